package sbom

import (
	"fmt"

	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"

	"sluice/image/tool"
)

// document is a document that is being filled.
type document struct {
	doc *v2_3.Document
	n   int
}

// top is the identifier of the appliance as a whole.
const top = common.ElementID("appliance")

// newDocument is a document about nothing but the appliance as a whole. Name and date are those of the version, so that
// the same version has the same document.
func newDocument(box tool.Box, in Input) *document {
	d := &document{doc: &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "sluice-" + in.Flavour + "-" + in.Version,
		DocumentNamespace: "urn:sluice:spdx:" + in.Flavour + ":" + in.Version,
		CreationInfo: &v2_3.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "sluice-image"}},
			Created:  box.Epoch.UTC().Format("2006-01-02T15:04:05Z"),
		},
	}}
	d.doc.Packages = append(d.doc.Packages, &v2_3.Package{
		PackageName: "sluice-appliance", PackageSPDXIdentifier: top, PackageVersion: in.Version, PackageDownloadLocation: "NOASSERTION",
		PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION", PrimaryPackagePurpose: "OPERATING-SYSTEM",
	})
	d.relate("DOCUMENT", common.TypeRelationshipDescribe, top)
	return d
}

// add adds a component with its files; a component without files is one whose parts lie within others.
func (d *document) add(c component, files []*v2_3.File) {
	d.n++
	id := common.ElementID(fmt.Sprintf("package-%d", d.n))
	p := &v2_3.Package{
		PackageName: c.name, PackageSPDXIdentifier: id, PackageVersion: c.version, PackageDownloadLocation: "NOASSERTION", PackageSourceInfo: c.source,
		PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: c.purl}},
	}
	if len(files) > 0 {
		p.FilesAnalyzed, p.IsFilesAnalyzedTagPresent = true, true
		p.PackageVerificationCode = &common.PackageVerificationCode{Value: verification(files)}
		p.PackageLicenseInfoFromFiles = []string{"NOASSERTION"}
	}
	d.doc.Packages = append(d.doc.Packages, p)
	d.relate(top, common.TypeRelationshipContains, id)
	for _, f := range files {
		d.doc.Files = append(d.doc.Files, f)
		d.relate(id, common.TypeRelationshipContains, f.FileSPDXIdentifier)
	}
}

func (d *document) relate(a common.ElementID, what string, b common.ElementID) {
	d.doc.Relationships = append(d.doc.Relationships, &v2_3.Relationship{
		RefA: common.MakeDocElementID("", string(a)), RefB: common.MakeDocElementID("", string(b)), Relationship: what,
	})
}
