# Steps of operators who work with ncclient: netconf.py ADDRESS USER PASSWORD STEP.
import sys

from ncclient import manager
from ncclient.operations import RPCError

OWN = "urn:sluice:config"
NC = "urn:ietf:params:xml:ns:netconf:base:1.0"

address, user, password, step = sys.argv[1:]
m = manager.connect(host=address, port=22, username=user, password=password, hostkey_verify=False, allow_agent=False, look_for_keys=False, timeout=60)


def edit(target, rows, operation=None):
    text = '<config xmlns="%s" xmlns:nc="%s"><sluice xmlns="%s">%s</sluice></config>' % (NC, NC, OWN, rows)
    m.edit_config(target=target, config=text, default_operation=operation)


def refused(tag, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except RPCError as e:
        if e.tag != tag:
            sys.exit("%s: %s, want %s" % (step, e, tag))
        return e
    sys.exit("%s: it is accepted" % step)


def server(name, address):
    return "<server><name>%s</name><ip-address>%s</ip-address></server>" % (name, address)


def gone(kind, keys):
    return '<%s nc:operation="delete">%s</%s>' % (kind, "".join("<%s>%s</%s>" % (k, v, k) for k, v in keys), kind)


if step == "commit":
    edit("candidate", server("nc1", "10.2.0.201")
         + "<service><name>nc-s1</name><server>nc1</server><service-type>TCP</service-type><port>81</port></service>"
         + "<lb-vserver><name>nc-v</name><service-type>TCP</service-type></lb-vserver>"
         + "<lb-vserver-service><vserver>nc-v</vserver><service>nc-s1</service></lb-vserver-service>")
    m.validate("candidate")
    m.commit()
elif step == "moved":  # the shell has the last word on what is running: a candidate of before is no longer committed
    edit("candidate", server("nc9", "10.2.0.209"))
    edit("running", "<server><name>nc1</name><comment>netconf</comment></server>")
    e = refused("operation-failed", m.commit)
    if "rebase" not in str(e):
        sys.exit(str(e))
elif step == "lock":
    m.lock("running")
    m.lock("startup")
    print("locked", flush=True)
    sys.stdin.readline()
    m.unlock("running")
elif step == "confirmed":
    edit("candidate", server("nc3", "10.2.0.203"))
    m.commit(confirmed=True, timeout="600", persist="token")
    refused("in-use", m.commit)
elif step == "confirm":
    m.commit(persist_id="token")
    m.copy_config(source="running", target="startup")
elif step == "remove":
    edit("running", gone("lb-vserver-service", [("vserver", "nc-v"), ("service", "nc-s1")]) + gone("lb-vserver", [("name", "nc-v")])
         + gone("service", [("name", "nc-s1")]) + "".join(gone("server", [("name", n)]) for n in ("nc1", "nc2", "nc3")))
    m.copy_config(source="running", target="startup")
elif step == "reader":
    if not m.get_config("running").data.findall(".//{%s}server" % OWN):
        sys.exit("a reader reads nothing")
    for target in ("running", "candidate"):
        refused("access-denied", edit, target, server("nc7", "10.2.0.207"))
    refused("access-denied", m.commit)
    refused("access-denied", m.discard_changes)
    refused("access-denied", m.lock, "running")
    refused("access-denied", m.copy_config, source="running", target="startup")
    refused("access-denied", m.delete_config, "startup")
else:
    sys.exit("no such step")
m.close_session()
print("as expected")
