# What users of ncclient do to an appliance. Each step that is not as expected ends the script with a word about it.
import sys
import time

from lxml import etree
from ncclient import manager
from ncclient.operations import RPCError
from ncclient.xml_ import to_ele

OWN = "urn:sluice:config"
NC = "urn:ietf:params:xml:ns:netconf:base:1.0"


def connect():
    return manager.connect(host="127.0.0.1", port=int(sys.argv[1]), username="nsroot", password="secret", hostkey_verify=False,
                           allow_agent=False, look_for_keys=False, timeout=60)


def config(rows):
    return '<config xmlns="%s" xmlns:nc="%s"><sluice xmlns="%s">%s</sluice></config>' % (NC, NC, OWN, rows)


def server(name, address, operation=""):
    mark = ' nc:operation="%s"' % operation if operation else ""
    return "<server%s><name>%s</name><ip-address>%s</ip-address></server>" % (mark, name, address)


def names(m, source="running"):
    data = m.get_config(source).data
    return " ".join(e.text for e in data.iter("{%s}name" % OWN) if e.getparent().tag == "{%s}server" % OWN)


def expect(what, got, want):
    if got != want:
        sys.exit("%s: %r, want %r" % (what, got, want))


def refused(what, tag, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except RPCError as e:
        expect(what, e.tag, tag)
        return e
    sys.exit("%s: it is accepted" % what)


m, other = connect(), connect()
for c in (":candidate", ":confirmed-commit", ":validate", ":startup", ":writable-running", ":rollback-on-error", ":with-defaults"):
    if c not in m.server_capabilities:
        sys.exit("no capability " + c)

# The candidate: lock, edit, validate, commit.
with m.locked("candidate"):
    e = refused("a second lock", "lock-denied", other.lock, "candidate")
    refused("an edit of a locked candidate", "in-use", other.edit_config, target="candidate", config=config(server("x", "10.0.0.9")))
    m.edit_config(target="candidate", config=config(server("web1", "10.0.0.1")))
    m.validate("candidate")
    m.commit()
expect("after the commit", names(m), "web1")

# Operations and errors.
refused("create of what is there", "data-exists", m.edit_config, target="running", config=config(server("web1", "10.0.0.1", "create")))
refused("delete of what is not there", "data-missing", m.edit_config, target="running", config=config('<server nc:operation="delete"><name>z</name></server>'))
m.edit_config(target="running", config=config('<server nc:operation="remove"><name>z</name></server>'))
e = refused("a wrong address", "invalid-value", m.edit_config, target="running", config=config(server("web2", "10.0.0.256")))
expect("path of the wrong address", e.path.strip(), "/sluice:sluice/sluice:server[sluice:name='web2']/sluice:ip-address")
e = refused("an unknown element", "unknown-element", m.edit_config, target="candidate", config=config("<server><name>q</name><colour>red</colour></server>"))
refused("a wrong enumeration", "invalid-value", m.edit_config, target="candidate", config=config("<server><name>q</name><state>SLEEPY</state></server>"))
m.edit_config(target="candidate", config=config("<service><name>s</name><server>nowhere</server><service-type>TCP</service-type><port>80</port></service>"))
e = refused("a reference to nothing", "data-missing", m.validate, "candidate")
expect("its path", e.path.strip(), "/sluice:sluice/sluice:service[sluice:name='s']/sluice:server")
refused("commit of it", "data-missing", m.commit)
m.discard_changes()
m.edit_config(target="running", config=config(server("web2", "10.0.0.2")), default_operation="merge", test_option="test-then-set", error_option="rollback-on-error")
expect("after the edit", names(m), "web1 web2")

# Confirmed commit: by time, from another session, cancelled.
m.edit_config(target="candidate", config=config(server("web3", "10.0.0.3")))
m.commit(confirmed=True, timeout="2")
expect("confirmed commit", names(m), "web1 web2 web3")
deadline = time.time() + 60
while names(m) != "web1 web2":
    if time.time() > deadline:
        sys.exit("the commit is not undone")
    time.sleep(0.1)
m.edit_config(target="candidate", config=config(server("web3", "10.0.0.3")))
m.commit(confirmed=True, persist="token")
refused("a confirmation without the token", "in-use", other.commit)
other.commit(persist_id="token")
expect("confirmed by another session", names(m), "web1 web2 web3")
m.edit_config(target="candidate", config=config('<server nc:operation="delete"><name>web3</name></server>'))
m.commit(confirmed=True, timeout="600", persist="again")
expect("confirmed delete", names(m), "web1 web2")
m.cancel_commit(persist_id="again")
expect("cancelled", names(m), "web1 web2 web3")
m.edit_config(target="running", config=config('<server nc:operation="delete"><name>web3</name></server>'))

# Filters, defaults, schema, state.
one = m.get_config("running", filter=("subtree", '<sluice xmlns="%s"><server><name>web2</name></server></sluice>' % OWN)).data
expect("filter", [e.text for e in one.iter("{%s}ip-address" % OWN)], ["10.0.0.2"])
every = m.get_config("running", with_defaults="report-all").data
expect("report-all", [e.text for e in every.iter("{%s}domain-resolve-retry" % OWN)], ["5", "5"])
schema = m.get_schema("sluice").data
expect("schema", "container sluice {" in schema, True)
state = m.get(filter=("subtree", '<netconf-state xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"><sessions/></netconf-state>')).data
expect("sessions", len(list(state.iter("{urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring}session-id"))), 2)
refused("XPath", "bad-attribute", m.get_config, "running", filter=("xpath", "/sluice"))

# Startup.
m.copy_config(source="running", target="startup")
expect("startup", names(m, "startup"), "web1 web2")

# A raw operation that nobody knows, a session that is killed, a big answer.
refused("nonsense", "operation-not-supported", m.dispatch, to_ele("<format-disk/>"))
m.kill_session(other.session_id)
deadline = time.time() + 60
while other.connected:
    if time.time() > deadline:
        sys.exit("the session lives on")
    time.sleep(0.1)
many = "".join(server("m%d" % i, "10.1.%d.%d" % (i // 250, i % 250 + 1)) for i in range(2000))
m.edit_config(target="candidate", config=config(many))
expect("a long answer", len(names(m, "candidate").split()), 2002)
m.discard_changes()
m.close_session()
print("all as expected")
