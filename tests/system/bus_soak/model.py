"""What one GPU and its instances are after a call, as org.cgpu1(5) says. The model of a client that alone changes them."""
import copy
import dataclasses

MIB = 1 << 20
POLICIES = ("fair-share", "preemptive", "weighted", "fixed", "soft", "native", "proportional")


@dataclasses.dataclass
class Instance:
    name: str
    memory: int
    weight: int
    high: bool = False
    attached: bool = False


@dataclasses.dataclass
class Gpu:
    total: int
    policy: str
    max_inst: int
    prio_ratio: int
    instances: dict = dataclasses.field(default_factory=dict)  # by id
    kept: dict = dataclasses.field(default_factory=dict)  # settings by name

    def weights(self):
        return sum(each.weight for each in self.instances.values())

    def memory(self):
        return sum(each.memory for each in self.instances.values())

    def faults(self):
        """The errors of a change that would lead here; none: it may be made."""
        found = set()
        if not 1 <= self.max_inst <= 25 or not 20 <= self.prio_ratio <= 99:
            found.add("Invalid")
        if any(not 1 <= each.weight <= 25 or each.memory <= 0 for each in self.instances.values()):
            found.add("Invalid")
        if any(each.weight > self.max_inst for each in self.instances.values()):
            found |= {"Invalid", "Busy"}
        if self.weights() > self.max_inst or len(self.instances) > self.max_inst:
            found |= {"NoSpace", "Busy"}
        if self.memory() > self.total:
            found.add("NoMemory")
        return found

    def with_changes(self, changes):
        """A copy after (kind, target, value) each: policy, max_inst, prio_ratio of the GPU; memory, weight, high of an instance."""
        after = copy.deepcopy(self)
        for kind, target, value in changes:
            setattr(after if target is None else after.instances[target], kind, value)
        return after

    def keep(self, identity, changes):
        """The settings of an instance that persist keeps for its name."""
        for kind, target, value in changes:
            if target == identity:
                self.kept.setdefault(self.instances[identity].name, {})[kind] = value


def described(node, index, names):
    """The same from what Describe answers; of the kept settings those of these names."""
    raw = next(each for each in node["gpus"] if each["index"] == index)
    gpu = Gpu(raw["memory_total_bytes"], raw["policy_name"], raw["max_inst"], round(raw["prio_ratio"] * 100))
    for each in node["instances"]:
        for place in each["gpus"]:
            if place["index"] == index:
                gpu.instances[each["id"]] = Instance(each["name"], place["memory_limit_bytes"], place["weight"],
                                                     place["high_priority"], each["state"] == "running")
    for each in node["kept"]:
        if each["name"] in names:
            figures = {"memory": each["memory_limit_bytes"], "weight": each["weight"], "high": each["high_priority"]}
            gpu.kept[each["name"]] = {kind: value for kind, value in figures.items() if value is not None}
    if gpu.weights() + raw["free_weight"] != gpu.max_inst or gpu.memory() != raw["memory_allocated_bytes"]:
        raise AssertionError(f"the GPU's own sums are wrong: {raw}")
    return gpu
