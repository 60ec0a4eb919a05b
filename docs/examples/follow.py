#!/usr/bin/python3
"""Sets how a GPU's compute is divided, and prints every change of the node: instances that come and go, settings, limits, and
events (who did what, and why something was refused).
usage: follow.py GPU POLICY        such as: follow.py 0 weighted. Needs python3-gi.
"""
import sys

from gi.repository import Gio, GLib

MANAGER = "/org/cgpu1"


def call(path, interface, method, arguments):
    return bus.call_sync("org.cgpu1", path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, -1, None).unpack()


def heard(_bus, _sender, path, _interface, signal, arguments):
    values = arguments.unpack()
    if signal == "InterfacesAdded":
        print("added", values[0], flush=True)
    elif signal == "InterfacesRemoved":
        print("removed", values[0], flush=True)
    elif signal == "PropertiesChanged":
        print("changed", path, values[1], flush=True)
    elif signal == "Event":
        print("event", *values[2:4], flush=True)


bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
# The subscription comes before the call, so that no change is missed.
bus.signal_subscribe("org.cgpu1", None, None, None, None, Gio.DBusSignalFlags.NONE, heard)
try:
    gpu, = call(MANAGER, "org.cgpu1.Manager", "FindGpu", GLib.Variant("(s)", (sys.argv[1],)))
    call(gpu, "org.cgpu1.Gpu", "SetPolicy", GLib.Variant("(sa{sv})", (sys.argv[2], {})))
except GLib.Error as error:
    # cgpud's message says what, why, and what to try.
    sys.exit(f"{Gio.DBusError.get_remote_error(error)}: {error.message}")
GLib.MainLoop().run()
