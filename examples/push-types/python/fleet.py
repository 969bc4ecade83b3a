"""A fleet of folders: each task is a folder whose `current` points to the folder of a version.

Calls of the push type record the wanted state together with their idempotency key; `Fleet.step` carries it out.
Everything that must survive a crash is in state.json.
"""

import json
import math
import os
from pathlib import Path


class Refused(Exception):
    """A call that is refused for good."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


def deploy_of(update_id):
    """`<deploy>/<phase or revert>/<try>`"""
    return update_id.rsplit("/", 2)[0]


def tasks_of(amount, size):
    """How many of `size` tasks an amount means: percent is rounded up, one task at least."""
    if amount is None or amount.get("all"):
        return size
    wanted = amount["count"] if "count" in amount else math.ceil(amount["percent"] * size / 100 - 1e-9)
    return min(size, max(1, wanted))


class Fleet:
    def __init__(self, home, versions, units, size, first_version):
        self.home, self.versions = Path(home), Path(versions)
        self.file = self.home / "state.json"
        self.home.mkdir(parents=True, exist_ok=True)
        if self.file.exists():
            self.state = json.loads(self.file.read_text())
            return
        self.state = {"units": {}, "updates": {}, "cancelled": [], "calls": {}, "fence": 0}
        for name in units:
            self.state["units"][name] = {"version": first_version, "setBy": None, "tasks": []}
            for _ in range(size):
                self.grow(name)
        self.save()

    # Questions.

    def unit(self, name):
        unit = self.state["units"].get(name)
        if unit is None:
            raise Refused(404, "unknown-unit", f"there is no unit {name}")
        return unit

    def slots(self, target):
        """The tasks that a target must bring to its version, the cheapest first, as many as it lacks."""
        unit, version = self.unit(target["unit"]), target["version"]
        tasks = list(enumerate(unit["tasks"]))
        lacking = [(i, t) for i, t in tasks if t["version"] != version or t["state"] != "live"]

        def cost(row):
            task = row[1]
            if task["state"] == "moving" and task["version"] == version:
                return 0
            return 1 if task["state"] == "down" else 2 if task["version"] == unit["version"] else 3

        if target.get("updatedBy") is not None:
            ids = self.with_reverts(target["updatedBy"])
            mine = [row for row in lacking if row[1]["update"] in ids]
            most = len(mine) if "amount" not in target else tasks_of(target["amount"], len(tasks))
            return [i for i, _ in sorted(mine, key=cost)[:most]]
        kept = self.reserved(target["unit"], target.get("exclude", []))
        free = [row for row in lacking if row[0] not in kept]
        there = len(tasks) - len(kept) - len(free)
        missing = max(0, tasks_of(target.get("amount"), len(tasks)) - there)
        return [i for i, _ in sorted(free, key=cost)[:missing]]

    def with_reverts(self, ids):
        """These updates and all reverts of any of them: a second try finds the tasks that the first left behind."""
        found = set(ids)
        for update_id, update in self.state["updates"].items():
            if found & set(update["reverts"]):
                found.add(update_id)
        return found

    def reserved(self, name, exclude):
        """Slots that excluded updates touched last, or are about to."""
        ids = self.with_reverts(exclude)
        slots = {i for i, task in enumerate(self.unit(name)["tasks"]) if task["update"] in ids}
        for update_id in ids:
            part = self.part(update_id, name)
            if part and part["state"] in ("active", "paused"):
                slots |= set(part["slots"])
        return slots

    def part(self, update_id, name):
        return self.state["updates"].get(update_id, {"units": {}})["units"].get(name)

    def unfinished(self, name):
        return [
            (update_id, self.part(update_id, name))
            for update_id in self.state["updates"]
            if (self.part(update_id, name) or {"state": "over"})["state"] in ("active", "paused")
        ]

    def has_version(self, version):
        # A version is the name of a folder, and never a path that leads elsewhere.
        return "/" not in version and not version.startswith(".") and (self.versions / version).is_dir()

    # Changes of the wanted state.

    def execute(self, request):
        """All or nothing: everything is checked before anything is recorded."""
        update_id, targets = request["updateId"], request["targets"]
        known = self.state["updates"].get(update_id)
        if known:
            return [target["unit"] for target in targets]
        if update_id in self.state["cancelled"]:
            raise Refused(409, "cancelled", f"{update_id} was cancelled before it came")
        names = [target["unit"] for target in targets]
        if len(set(names)) < len(names):
            raise Refused(400, "invalid-request", "a unit is named twice")
        for target in targets:
            self.check_target(update_id, target)
        chosen = {target["unit"]: self.accept(update_id, target, request["wholeUnit"]) for target in targets}
        union = lambda field: sorted({each for target in targets for each in target.get(field, [])})
        self.state["updates"][update_id] = {
            "urgency": request["urgency"],
            "reverts": union("updatedBy"),
            "exclude": union("exclude"),
            "units": chosen,
        }
        return names

    def check_target(self, update_id, target):
        self.unit(target["unit"])
        if not self.has_version(target["version"]):
            raise Refused(404, "unknown-version", f"there is no version {target['version']}")
        ours, mine = self.with_reverts(target.get("exclude", [])), set(target.get("updatedBy", []))
        for other, _ in self.unfinished(target["unit"]):
            theirs = self.with_reverts(self.state["updates"][other]["exclude"])
            apart = other in ours or (mine and mine <= theirs)
            if deploy_of(other) != deploy_of(update_id) and not apart:
                raise Refused(409, "unit-busy", f"{target['unit']} is being updated by {other}")

    def accept(self, update_id, target, whole_unit):
        unit = self.unit(target["unit"])
        for earlier, part in self.unfinished(target["unit"]):
            if deploy_of(earlier) == deploy_of(update_id):
                part.update(state="ended", reason=f"replaced by {update_id}")
        slots = self.slots(target)
        for slot in slots:  # tasks on their way to the version now belong to this update
            task = unit["tasks"][slot]
            if task["state"] == "moving" and task["version"] == target["version"]:
                task["update"] = update_id
        if whole_unit:
            unit.update(version=target["version"], setBy=update_id)
        elif unit["setBy"] in self.with_reverts(target.get("updatedBy") or []):
            unit.update(version=target["version"], setBy=None)
        return {"version": target["version"], "slots": slots, "state": "active"}

    def command(self, update_id, units, sources, state, reason):
        """Pause, resume or cancel; harmless for updates that are unknown or have ended."""
        update = self.state["updates"].get(update_id)
        if update is None:
            if state == "ended" and update_id not in self.state["cancelled"]:
                self.state["cancelled"].append(update_id)
            return
        for name, part in update["units"].items():
            if part["state"] in sources and (units is None or name in units) and self.pending(name, part):
                part.update(state=state, reason=reason)

    def grow(self, name):
        unit = self.unit(name)
        task = {"version": unit["version"], "update": unit["setBy"], "state": "moving", "start": 0}
        unit["tasks"].append(task)
        self.put(name, len(unit["tasks"]) - 1)

    # The present state.

    def pending(self, name, part):
        tasks = self.unit(name)["tasks"]
        return [i for i in part["slots"] if tasks[i]["version"] != part["version"] or tasks[i]["state"] != "live"]

    def progress(self, name, part):
        chosen = [self.unit(name)["tasks"][i] for i in part["slots"]]
        there = [task for task in chosen if task["version"] == part["version"] and task["state"] != "moving"]
        count = lambda state: sum(task["state"] == state for task in there)
        state = {"ended": "failed", "active": "updating"}.get(part["state"], part["state"])
        if part["state"] == "active" and not self.pending(name, part):
            state = "done"
        counts = {"targeted": len(chosen), "updated": len(there), "live": count("live"), "failed": count("down")}
        reason = {"reason": part["reason"]} if part.get("reason") and state != "done" else {}
        return {"id": name, "state": state, **counts, "unreachable": 0, "gone": 0, **reason}

    # The steps that bring about the wanted state: one task of a unit at a time.

    def step(self):
        """Returns true if it did something. Work that a crash interrupted is done again."""
        moved = [name for name in self.state["units"] if self.step_unit(name)]
        if moved:
            self.save()
        return bool(moved)

    def step_unit(self, name):
        unit = self.unit(name)
        for slot, task in enumerate(unit["tasks"]):
            if task["state"] == "moving":
                self.put(name, slot)
                part = self.part(task["update"], name) if task["update"] else None
                if task["state"] == "down" and part and part["state"] in ("active", "paused"):
                    health = (self.versions / task["version"] / "health").read_text().strip()
                    part.update(state="failed", reason=f"{name}/{slot} does not come up on {task['version']}: {health}")
                return True
        waiting = [(update_id, part) for update_id, part in self.unfinished(name) if part["state"] == "active"]
        urgent_first = lambda row: self.state["updates"][row[0]]["urgency"] != "revert"
        for update_id, part in sorted(waiting, key=urgent_first):
            for slot in self.pending(name, part):
                unit["tasks"][slot].update(version=part["version"], update=update_id, state="moving")
                return True
            part["state"] = "done"
            return True
        return False

    def put(self, name, slot):
        """Points the folder to its version, in one rename, and checks its health. Each start has its own number."""
        task = self.unit(name)["tasks"][slot]
        folder = self.home / "tasks" / name / str(slot)
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / "next"
        link.unlink(missing_ok=True)
        link.symlink_to((self.versions / task["version"]).resolve())
        os.replace(link, folder / "current")
        well = (folder / "current" / "health").read_text().strip() == "ok"
        task.update(state="live" if well else "down", start=task["start"] + 1)

    def save(self):
        """Atomically."""
        beside = self.file.with_suffix(".next")
        with open(beside, "w") as file:
            json.dump(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.file)
