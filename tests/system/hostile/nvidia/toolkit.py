#!/usr/bin/python3 -IS
"""A stand-in for NVIDIA's container toolkit that decides as the real one does (1.20), from the same inputs: which GPUs a
container gets by annotations, volumes, variables, the age of the image and the file config.toml, in the modes cdi, jit-cdi
(also auto) and legacy. Called as nvidia-container-runtime it is the runtime; with `hook NAME` it is the hooks that it adds.

The GPUs are the lines of /run/nvidia-gpus (UUIDs); their device nodes are /dev/nvidiaN on the host. Beside them come the
control device, the driver's two libraries, and the simulator's device.
"""
import json
import os
import sys

CONFIG = "/etc/nvidia-container-runtime/config.toml"
LIBRARIES = f"/usr/lib/{os.uname().machine}-linux-gnu"
VOLUMES = "/var/run/nvidia-container-devices"
HOOK = "nvidia-container-runtime-hook"
AUTOMATIC = "runtime.nvidia.com/gpu"
SELF = os.path.realpath(__file__)


def setting(name, default):
    for line in open(CONFIG):
        key, equals, value = line.partition("=")
        if equals and key.strip() == name and not line.startswith("#"):
            return json.loads(value)
    return default


def gpus():
    return open("/run/nvidia-gpus").read().split()


def from_annotations(config):
    prefixes = setting("annotation-prefixes", ["cdi.k8s.io/"])
    found = []
    for key, value in sorted((config.get("annotations") or {}).items()):
        if any(key.startswith(prefix) for prefix in prefixes):
            found += value.split(",")
    return found


def from_volumes(config):
    found = []
    for mount in config.get("mounts", []):
        if os.path.normpath(mount.get("source", "")) != "/dev/null":
            continue
        destination = os.path.normpath(mount["destination"])
        if not destination.startswith(VOLUMES):
            continue
        name = destination[len(VOLUMES):].strip("/")
        if not name or name.startswith("imex/"):
            continue
        if name.startswith("cdi/"):
            name = name[4:]
            if "=" not in name:
                vendor, kind, device = name.split("/", 2)
                name = f"{vendor}/{kind}={device}"
        found.append(name)
    return found


def from_variables(config):
    env = dict(entry.split("=", 1) for entry in config["process"].get("env", []))
    preferred = [name for name in setting("swarm-resource", "").split(",") if name in env]
    found, is_set = [], False
    for name in preferred or ["NVIDIA_VISIBLE_DEVICES"]:
        if name in env:
            is_set = True
            found += [device.strip() for device in env[name].split(",") if device.strip()]
    if not is_set and env.get("CUDA_VERSION") and not env.get("NVIDIA_REQUIRE_CUDA"):
        found = ["all"]
    if not found or "void" in found:
        return []
    # The first of these words counts.
    return next(([""] if name == "none" else ["all"] for name in found if name in ("all", "none")), found)


def visible(config, annotations):
    named = from_annotations(config) if annotations else []
    if not named and setting("accept-nvidia-visible-devices-as-volume-mounts", False):
        named = from_volumes(config)
    if named:
        return named
    bounding = (config["process"].get("capabilities") or {}).get("bounding") or []
    if "CAP_SYS_ADMIN" in bounding or setting("accept-nvidia-visible-devices-envvar-when-unprivileged", True):
        return from_variables(config)
    return []


def minors(named):
    """Of GPUs by index, UUID or `all`; what is unknown ends the program, as it does NVIDIA's."""
    found = set()
    for name in named:
        if name == "all":
            found |= set(range(len(gpus())))
        elif name in gpus():
            found.add(gpus().index(name))
        elif name.isdigit() and int(name) < len(gpus()):
            found.add(int(name))
        elif name not in ("", "none"):
            sys.exit(f"nvidia: unknown device {name!r}")
    return sorted(found)


def of_cdi(named):
    kinds = ("nvidia.com/gpu=", AUTOMATIC + "=")
    return minors([next((name[len(kind):] for kind in kinds if name.startswith(kind)), name) for name in named])


def call(*words):
    status = os.spawnvp(os.P_WAIT, words[0], words)
    if status:
        sys.exit(f"nvidia: {words[0]}: {status}")


def libraries():
    return [os.path.realpath(f"{LIBRARIES}/lib{name}.so.1") for name in ("cuda", "nvidia-ml")]


def hook(name, root):
    return {"path": SELF, "args": ["nvidia-cdi-hook", "hook", name, root], "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}


def edit_as_cdi(config, bundle, named):
    hooks = config.setdefault("hooks", {})
    hooks["prestart"] = [each for each in hooks.get("prestart", []) if os.path.basename(each["path"]) != HOOK]
    if not named:
        return
    linux = config.setdefault("linux", {})
    rules = linux.setdefault("resources", {}).setdefault("devices", [])
    nodes = [(f"/dev/nvidia{minor}", minor) for minor in of_cdi(named)] + [("/dev/nvidiactl", 255)]
    for path, minor in nodes:
        linux["devices"] = [each for each in linux.get("devices") or [] if each["path"] != path]
        linux["devices"].append({"path": path, "type": "c", "major": 195, "minor": minor, "fileMode": 438})
        rules.append({"allow": True, "type": "c", "major": 195, "minor": minor, "access": "rwm"})
    config["mounts"] += [{"source": file, "destination": file, "type": "bind", "options": ["bind", "ro"]} for file in libraries()]
    config["mounts"].append({"source": "/dev/simgpu", "destination": "/dev/simgpu", "type": "bind", "options": ["bind", "rw"]})
    # As each specification of NVIDIA's does: no hook of the legacy way is to bring GPUs in a second time.
    env = [each for each in config["process"].get("env", []) if not each.startswith("NVIDIA_VISIBLE_DEVICES=")]
    config["process"]["env"] = env + ["NVIDIA_VISIBLE_DEVICES=void"]
    root = os.path.join(bundle, config["root"]["path"])
    hooks["createContainer"] = hooks.get("createContainer", []) + [hook("update-ldcache", root)]


def edit_as_legacy(config):
    prestart = config.setdefault("hooks", {}).setdefault("prestart", [])
    if not any(os.path.basename(each["path"]) == HOOK for each in prestart):
        prestart.append({"path": f"/usr/bin/{HOOK}", "args": [HOOK, "prestart"]})


def runtime(arguments):
    if "create" in arguments or "run" in arguments:
        bundle = os.getcwd()
        for i, word in enumerate(arguments):
            if word in ("-b", "--bundle"):
                bundle = arguments[i + 1]
            elif word.startswith("--bundle="):
                bundle = word[9:]
        bundle = os.path.abspath(bundle)
        path = f"{bundle}/config.json"
        config = json.load(open(path))
        mode = setting("mode", "auto")
        named = visible(config, mode in ("auto", "cdi"))
        if mode == "auto":
            mode = "cdi" if named and all("=" in name for name in named) else "jit-cdi"
        if mode != "cdi":
            named = visible(config, False)
        if mode == "legacy":
            edit_as_legacy(config)
        else:
            edit_as_cdi(config, bundle, named)
        json.dump(config, open(path, "w"))
    for name in setting("runtimes", ["runc", "crun"]):
        usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        for folder in (os.environ.get("PATH", "") + ":" + usual).split(":"):
            program = os.path.join(folder, name)
            if os.access(program, os.X_OK):
                os.execv(program, [program] + arguments)
    sys.exit("nvidia: no low-level runtime")


def make_mounts(root, files):
    for file in files:
        os.makedirs(os.path.dirname(root + file), exist_ok=True)
        open(root + file, "a").close()
        call("mount", "-n", "--bind", file, root + file)
    make_links(root)


def make_links(root):
    for file in libraries():
        name = os.path.basename(file)
        link = f"{root}{LIBRARIES}/{name[:name.index('.so')]}.so.1"
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(name, link)


def prestart():
    """NVIDIA's hook, and what its command-line program does: devices, their permission, libraries."""
    state = json.load(sys.stdin)
    config = json.load(open(state["bundle"] + "/config.json"))
    named = visible(config, False)
    if not named:
        return
    pid, found = state["pid"], minors(named) + [255]
    root = os.path.join(state["bundle"], config["root"]["path"])
    for line in open(f"/proc/{pid}/cgroup"):
        _, controllers, path = line.rstrip("\n").split(":", 2)
        if "devices" in controllers.split(","):
            for minor in found:
                open(f"/sys/fs/cgroup/devices{path}/devices.allow", "w").write(f"c 195:{minor} rw")
    nodes = ["/dev/nvidiactl" if minor == 255 else f"/dev/nvidia{minor}" for minor in found]
    files = libraries() + ["/dev/simgpu"] + nodes
    call("nsenter", "--mount", "--target", str(pid), SELF, "hook", "mount-into", root, *files)


name = sys.argv[2] if sys.argv[1:2] == ["hook"] else os.path.basename(sys.argv[0])
if name == HOOK:
    prestart()
elif name == "mount-into":
    make_mounts(sys.argv[3], sys.argv[4:])
    call("ldconfig", "-r", sys.argv[3])
elif name == "update-ldcache":
    make_links(sys.argv[3])
    call("ldconfig", "-r", sys.argv[3])
else:
    runtime(sys.argv[1:])
