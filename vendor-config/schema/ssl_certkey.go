package schema

// SSLCertKey is a certificate with its private key.
type SSLCertKey struct {
	CertkeyName        string `cli:"certkeyName" key:"1" max:"63" syntax:"name" help:"Name of the pair"`
	Cert               string `cli:"cert" required:"yes" fixed:"yes" max:"127" help:"File of the certificate"`
	Key                string `cli:"key" fixed:"yes" max:"127" help:"File of the private key"`
	Password           string `cli:"password" fixed:"yes" flag:"yes" enum:"YES" help:"The key is encrypted: ask for its password"`
	FipsKey            string `cli:"fipsKey" fixed:"yes" max:"63" help:"Key in a FIPS module"`
	HsmKey             string `cli:"hsmKey" fixed:"yes" max:"63" help:"Key in an external module"`
	Inform             string `cli:"inform" fixed:"yes" enum:"DER,PEM,PFX" def:"PEM" help:"Form of the files"`
	Passplain          string `cli:"passplain" fixed:"yes" secret:"yes" max:"127" help:"Password of the private key"`
	Encrypted          string `cli:"encrypted" fixed:"yes" flag:"yes" enum:"YES" help:"The secret is written in a form that only the device that wrote it can read; it is kept as it is"`
	Encryptmethod      string `cli:"encryptmethod" fixed:"yes" max:"31" help:"How that device encrypted it"`
	Kek                string `cli:"kek" fixed:"yes" flag:"yes" enum:"YES" help:"A key of that device encrypts it"`
	Suffix             string `cli:"suffix" fixed:"yes" max:"63" help:"Which one"`
	ExpiryMonitor      string `cli:"expiryMonitor" enum:"ENABLED,DISABLED" help:"Raise an alarm before the certificate expires"`
	NotificationPeriod uint8  `cli:"notificationPeriod" min:"10" max:"100" unit:"days" help:"How long before"`
	Bundle             string `cli:"bundle" fixed:"yes" enum:"YES,NO" def:"NO" help:"The file holds intermediate certificates as well"`
}

// SSLCertKeyOCSP is who is asked whether certificates of an authority are revoked.
type SSLCertKeyOCSP struct {
	CertkeyName   string `cli:"certkeyName" key:"1" max:"63" ref:"ssl-cert-key" syntax:"name" help:"Name of the pair"`
	OCSPResponder string `cli:"ocspResponder" key:"2" keyword:"yes" max:"63" help:"OCSP responder"`
	Priority      uint32 `cli:"priority" only:"bind" help:"Order in which they are asked, the lowest first"`
}

// SSLCertKeyLink is the certificate of the issuer of another.
type SSLCertKeyLink struct {
	CertkeyName     string `cli:"certkeyName" key:"1" max:"63" ref:"ssl-cert-key" syntax:"name" help:"Name of the pair"`
	LinkCertKeyName string `cli:"linkCertKeyName" pos:"2" required:"yes" only:"link" max:"63" help:"ssl certKey of the issuer"`
}

func init() {
	stored[SSLCertKey]("ssl certKey", "ssl-cert-key", "add set unset rm show", "Certificate with its key")
	stored[SSLCertKeyOCSP]("ssl certKey", "ssl-cert-key-ocsp", "bind unbind", "OCSP responder of a certificate")
	stored[SSLCertKeyLink]("ssl certKey", "ssl-cert-key-link", "link unlink", "Certificate of the issuer")
}
