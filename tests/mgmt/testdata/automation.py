"""Drives the shell with netmiko's NetScaler driver as automation does; prints what it reads as JSON."""
import json
import sys

from netmiko import ConnectHandler

host, password = sys.argv[1:]
session = ConnectHandler(device_type="netscaler", host=host, username="nsroot", password=password, blocking_timeout=60)
answers = {"prompt": session.find_prompt()}
for line in ("show version", "add server netmiko1 10.2.9.1", "add server netmiko1 10.2.9.2", "show server netmiko1",
             "show ns runningConfig", "show nonsense"):
    answers[line] = session.send_command(line)
answers["set"] = session.send_config_set(["set server netmiko1 -comment one", "add server netmiko2 10.2.9.2"])
answers["after"] = session.send_command("show server netmiko1")
for line in ("rm server netmiko1", "rm server netmiko2"):
    answers[line] = session.send_command(line)
session.disconnect()
json.dump(answers, sys.stdout)
