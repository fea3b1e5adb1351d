package schema

// SSLVserver is how a virtual server speaks TLS.
type SSLVserver struct {
	VServerName          string `cli:"vServerName" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	ClearTextPort        uint16 `cli:"clearTextPort" def:"0" max:"65534" help:"Port toward servers without TLS; 0 is that of the service"`
	DH                   string `cli:"dh" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Offer Diffie-Hellman key exchange"`
	DHFile               string `cli:"dhFile" max:"255" help:"File with the parameters of Diffie-Hellman"`
	DHCount              uint16 `cli:"dhCount" max:"65534" help:"Handshakes after which its key is made anew; 0 is never"`
	DHKeyExpSizeLimit    string `cli:"dhKeyExpSizeLimit" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Keep exponents of Diffie-Hellman as short as NIST allows"`
	ERSA                 string `cli:"eRSA" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Offer RSA keys that are made for the session"`
	ERSACount            uint16 `cli:"eRSACount" max:"65534" help:"Handshakes after which such a key is made anew; 0 is never"`
	SessReuse            string `cli:"sessReuse" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Let clients resume sessions"`
	SessTimeout          uint32 `cli:"sessTimeout" def:"120" max:"4294967294" unit:"seconds" help:"How long a session can be resumed"`
	CipherRedirect       string `cli:"cipherRedirect" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send clients without a common cipher elsewhere"`
	CipherURL            string `cli:"cipherURL" max:"255" help:"Where they are sent"`
	Sslv2Redirect        string `cli:"sslv2Redirect" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send clients of SSL 2 elsewhere"`
	Sslv2URL             string `cli:"sslv2URL" max:"255" help:"Where they are sent"`
	ClientAuth           string `cli:"clientAuth" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Ask the other end for a certificate"`
	ClientCert           string `cli:"clientCert" enum:"Mandatory,Optional" help:"Whether it must have one"`
	SSLRedirect          string `cli:"sslRedirect" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Write https into redirects of servers"`
	RedirectPortRewrite  string `cli:"redirectPortRewrite" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Write the port into them as well"`
	SSL2                 string `cli:"ssl2" enum:"ENABLED,DISABLED" def:"DISABLED" help:"SSL 2"`
	SSL3                 string `cli:"ssl3" enum:"ENABLED,DISABLED" def:"ENABLED" help:"SSL 3"`
	Tls1                 string `cli:"tls1" enum:"ENABLED,DISABLED" def:"ENABLED" help:"TLS 1.0"`
	Tls11                string `cli:"tls11" enum:"ENABLED,DISABLED" def:"ENABLED" help:"TLS 1.1"`
	Tls12                string `cli:"tls12" enum:"ENABLED,DISABLED" def:"ENABLED" help:"TLS 1.2"`
	Tls13                string `cli:"tls13" enum:"ENABLED,DISABLED" def:"DISABLED" help:"TLS 1.3"`
	SNIEnable            string `cli:"SNIEnable" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Choose the certificate by the name that the client asks for"`
	OCSPStapling         string `cli:"ocspStapling" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send the OCSP answer about the certificate with the handshake"`
	PushEncTrigger       string `cli:"pushEncTrigger" enum:"Always,Merge,Ignore,Timer" help:"What ends the gathering of data before it is encrypted"`
	SendCloseNotify      string `cli:"sendCloseNotify" enum:"YES,NO" def:"YES" help:"Say goodbye before a connection is closed"`
	DtlsProfileName      string `cli:"dtlsProfileName" max:"255" help:"Profile with DTLS options"`
	SSLProfile           string `cli:"sslProfile" max:"255" help:"Profile with TLS options"`
	HSTS                 string `cli:"HSTS" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Tell clients to come by TLS only"`
	Maxage               uint32 `cli:"maxage" def:"0" max:"4294967294" unit:"seconds" help:"How long they remember that"`
	IncludeSubdomains    string `cli:"IncludeSubdomains" enum:"YES,NO" def:"NO" help:"It holds for names below as well"`
	StrictSigDigestCheck string `cli:"strictSigDigestCheck" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Refuse certificates whose signature uses a digest that the other end did not offer"`
}

// SSLVserverCert is a certificate of a virtual server.
type SSLVserverCert struct {
	VServerName string `cli:"vServerName" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	CertkeyName string `cli:"certkeyName" key:"2" keyword:"yes" max:"63" ref:"ssl-cert-key" syntax:"name" help:"ssl certKey"`
	CA          string `cli:"CA" flag:"yes" only:"bind,unbind" enum:"YES" help:"It verifies certificates of the other end"`
	CRLCheck    string `cli:"crlCheck" only:"bind" enum:"Mandatory,Optional" help:"Whether a revocation list must be there"`
	OCSPCheck   string `cli:"ocspCheck" only:"bind" enum:"Mandatory,Optional" help:"Whether an OCSP answer must be there"`
	SkipCAName  string `cli:"skipCAName" flag:"yes" only:"bind" enum:"YES" help:"Do not tell its name in requests for certificates"`
	SNICert     string `cli:"SNICert" flag:"yes" only:"bind,unbind" enum:"YES" help:"It is chosen by the name that the client asks for"`
}

// SSLVserverCipher is a cipher, or a group of them, that a virtual server offers.
type SSLVserverCipher struct {
	VServerName string `cli:"vServerName" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	CipherName  string `cli:"cipherName" key:"2" keyword:"yes" max:"63" help:"Cipher, or group of ciphers"`
}

// SSLVserverCurve is an elliptic curve that a virtual server offers.
type SSLVserverCurve struct {
	VServerName  string `cli:"vServerName" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	EccCurveName string `cli:"eccCurveName" key:"2" keyword:"yes" enum:"ALL,P_224,P_256,P_384,P_521" help:"Elliptic curve"`
}

// SSLVserverPolicy is a TLS policy of a virtual server.
type SSLVserverPolicy struct {
	VServerName            string `cli:"vServerName" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	PolicyName             string `cli:"policyName" key:"2" keyword:"yes" max:"127" help:"ssl policy"`
	Priority               uint16 `cli:"priority" only:"bind" max:"64000" help:"Order in which they are asked, the lowest first"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	Invoke                 string `cli:"invoke" only:"bind" enum:"vserver,service,policylabel" help:"Kind of label with policies to go on with"`
	LabelName              string `cli:"labelName" after:"invoke" only:"bind" max:"127" help:"Label that invoke goes to"`
}

func init() {
	stored[SSLVserver]("ssl vserver", "ssl-vserver", "set unset rm show", "TLS of a virtual server")
	stored[SSLVserverCert]("ssl vserver", "ssl-vserver-cert", "bind unbind", "Certificate of a virtual server")
	stored[SSLVserverCipher]("ssl vserver", "ssl-vserver-cipher", "bind unbind", "Cipher of a virtual server")
	stored[SSLVserverCurve]("ssl vserver", "ssl-vserver-curve", "bind unbind", "Curve of a virtual server")
	stored[SSLVserverPolicy]("ssl vserver", "ssl-vserver-policy", "bind unbind", "TLS policy of a virtual server")
}
