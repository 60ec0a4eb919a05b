"""The bus, cgpud and cgpuctl, all three from the bundle."""
import json
import os
import signal
import subprocess
import time

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
  </policy>
  <includedir>{folder}/bus.d</includedir>
</busconfig>
"""


class NodeError(Exception):
    pass


class Node:
    def __init__(self, folder):
        """`folder` is the unpacked bundle."""
        self.folder = folder
        self.address = f"unix:path={folder}/bus"
        self._bus = None
        self._cgpud = None

    def program(self, name):
        return os.path.join(self.folder, "bin", name)

    def start(self):
        self._link_driver()
        config = os.path.join(self.folder, "bus.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(BUS.format(folder=self.folder))
        self._bus = self._daemon([self.program("dbus-daemon"), f"--config-file={config}", "--nofork", "--nopidfile",
                                  "--nosyslog"], "bus.log")
        self._wait("the bus", self._bus, "bus.log", lambda: os.path.exists(os.path.join(self.folder, "bus")))
        self.start_cgpud()

    def start_cgpud(self):
        self._cgpud = self._daemon([self.program("cgpud")], "cgpud.log")
        self._wait("cgpud", self._cgpud, "cgpud.log", lambda: self._ask("status", "--json").returncode == 0)

    def kill_cgpud(self):
        self._cgpud.kill()
        self._cgpud.wait()

    def stop(self):
        for daemon in (self._cgpud, self._bus):
            if daemon is not None and daemon.poll() is None:
                daemon.send_signal(signal.SIGTERM)
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()

    def log(self, name="cgpud.log"):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def cgpuctl(self, *arguments):
        """Return what it prints. NodeError: it failed."""
        asked = self._ask(*arguments)
        if asked.returncode != 0:
            raise NodeError(f"cgpuctl {' '.join(arguments)}: {asked.stderr.strip()}")
        return asked.stdout

    def instances(self):
        return json.loads(self.cgpuctl("list", "--json"))

    def charged(self, name):
        """Return the bytes on GPU 0 that this instance has used."""
        for instance in self.instances():
            if instance["name"] == name:
                return instance["gpus"][0]["memory_used_bytes"]
        raise NodeError(f"no instance {name}")

    def _ask(self, *arguments):
        environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address)
        return subprocess.run([self.program("cgpuctl"), *arguments], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)

    def _daemon(self, command, log):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        with open(os.path.join(self.folder, log), "ab") as file:
            return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=subprocess.STDOUT, start_new_session=True)

    def _wait(self, what, daemon, log, ready):
        deadline = time.monotonic() + 30
        while not ready():
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise NodeError(f"{what} did not start: {self.log(log).strip()[-500:]}")
            time.sleep(0.05)

    def _link_driver(self):
        """cgpud is started with the bundle's libraries and this folder: of the machine's libraries it needs only NVML."""
        with open("/proc/self/maps", encoding="utf-8") as file:
            loaded = {line.split()[-1] for line in file if "libnvidia-ml.so" in line}
        folder = os.path.join(self.folder, "driver")
        os.makedirs(folder, exist_ok=True)
        for path in loaded:
            os.symlink(path, os.path.join(folder, "libnvidia-ml.so.1"))
