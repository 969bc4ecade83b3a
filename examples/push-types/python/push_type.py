"""A push type in Python, with only its standard library: `python3 push_type.py --help`.

The contract is docs/reference/protocols.md; its fields are docs/reference/protocols/push-type.openapi.yaml.
"""

import argparse
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fleet import Fleet, Refused

MAX_BODY = 1024 * 1024
HERE = Path(__file__).parent
LOOKS = ("validateConfig", "fetchDeployUnits", "needsPush", "trackUpdates", "runHealthChecks")
CHANGES = ("executeUpdates", "pauseUpdates", "resumeUpdates", "cancelUpdates")


class PushType:
    def __init__(self, fleet):
        self.fleet = fleet

    def validateConfig(self, request, context):
        units = context["config"].get("units")
        if not isinstance(units, list) or not units:
            return {"problems": [{"path": "config.units", "message": "expected a list of units"}]}
        unknown = [i for i, name in enumerate(units) if name not in self.fleet.state["units"]]
        return {"problems": [{"path": f"config.units.{i}", "message": f"there is no unit {units[i]}"} for i in unknown]}

    def fetchDeployUnits(self, request, context):
        """Without `next`: it returns all its units at once, and accepts each update in one request."""
        units = []
        for name in configured(context):
            unit = self.fleet.unit(name)
            mixed = len({task["version"] for task in unit["tasks"]}) > 1
            row = {"id": name, "labels": {}, "size": len(unit["tasks"]), "version": unit["version"]}
            units.append({**row, "mixed": mixed, "available": True})
        return {"service": "settings", "units": units}

    def needsPush(self, request, context):
        rows = []
        for target in targets_of(request):
            size = len(self.fleet.unit(target["unit"])["tasks"])
            rows.append({"id": target["unit"], "size": size, "outdated": len(self.fleet.slots(target)), "budget": 1})
        return {"units": rows}

    def executeUpdates(self, request, context):
        require(isinstance(request.get("wholeUnit"), bool), "wholeUnit: expected true or false")
        require(request.get("urgency") in ("normal", "revert"), "urgency: expected normal or revert")
        targets = targets_of(request)
        for target in targets:
            if target["unit"] not in configured(context):
                raise Refused(404, "unknown-unit", f"config.units has no {target['unit']}")
        fence = context.get("fence", self.fleet.state["fence"])
        if fence < self.fleet.state["fence"] and request["urgency"] != "revert":
            raise Refused(409, "fenced", f"a deploy with fence {self.fleet.state['fence']} was here since")
        self.fleet.state["fence"] = max(fence, self.fleet.state["fence"])
        return {"accepted": self.fleet.execute({**request, "updateId": update_id(request), "targets": targets})}

    def trackUpdates(self, request, context):
        update = self.fleet.state["updates"].get(update_id(request))
        if update is None:
            raise Refused(404, "unknown-update", f"there is no update {request['updateId']}")
        wanted = request.get("units", list(update["units"]))
        return {"units": [self.fleet.progress(name, part) for name, part in update["units"].items() if name in wanted]}

    def pauseUpdates(self, request, context):
        self.fleet.command(update_id(request), request.get("units"), ["active"], "paused", "paused")
        return {}

    def resumeUpdates(self, request, context):
        self.fleet.command(update_id(request), request.get("units"), ["paused"], "active", None)
        return {}

    def cancelUpdates(self, request, context):
        self.fleet.command(update_id(request), request.get("units"), ["active", "paused"], "ended", "cancelled")
        return {}

    def runHealthChecks(self, request, context):
        """Resolves units and updates to task identifiers; the Health Check Service judges. Never fails."""
        targets = [self.judged(name, request["targets"]) for name in request["targets"]["units"]]
        url, why = os.environ.get("CONVEYOR_HCS_URL"), "CONVEYOR_HCS_URL is not set: nobody judges"
        if url:
            try:
                return evaluate(url, {**request, "targets": targets, "context": context})
            except Exception as error:
                why = f"the Health Check Service at CONVEYOR_HCS_URL: {error}"
        rows = lambda scope: [errored(each, request["now"], why) for each in request["checks"] if scope_of(each) == scope]
        units = [{"id": row["id"], "checks": rows("unit") if row["fresh"] else []} for row in targets]
        return {"units": units, "deploy": {"checks": rows("deploy") if any(row["fresh"] for row in targets) else []}}

    def judged(self, name, targets):
        """Every start of a task has a new identifier, so metrics of the old and the new version never mix."""
        named, excluded = set(targets["updatedBy"]), self.fleet.with_reverts(targets.get("exclude", []))
        fresh, control, before = [], [], []
        for slot, task in enumerate(self.fleet.unit(name)["tasks"]):
            if task["update"] in excluded:
                continue
            identifier = f"{name}/{slot}@{task['start']}"
            if task["update"] in named or not named:
                fresh.append(identifier)
                before.append(f"{name}/{slot}@{task['start'] - 1}")
            else:
                control.append(identifier)
        return {"id": name, "fresh": fresh, "control": control, "before": before if named else []}


def configured(context):
    return context["config"].get("units", [])


def require(holds, message):
    if not holds:
        raise Refused(400, "invalid-request", message)


def update_id(request):
    require(isinstance(request.get("updateId"), str), "updateId: expected a text")
    return request["updateId"]


def targets_of(request):
    """Each target in full, with its missing fields from `common`."""
    require(isinstance(request.get("targets"), list), "targets: expected a list")
    return [checked({**request.get("common", {}), **target}, f"targets.{i}") for i, target in enumerate(request["targets"])]


def checked(target, path):
    for field in ("unit", "version"):
        require(isinstance(target.get(field), str), f"{path}.{field}: expected a text")
    amount = target.get("amount")
    if amount is not None:
        value = amount.get("count", amount.get("percent", 1))
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        known = [field for field in ("count", "percent", "all") if field in amount]
        require(len(known) == 1 and number and amount.get("percent", 1) <= 100, f"{path}.amount: no amount")
    return target


def scope_of(check):
    return check.get("scope", "unit")


def errored(check, now, why):
    numbers = {"observed": None, "reference": None, "threshold": None, "samples": 0, "tasks": 0}
    window = {"start": now - check.get("lookback", 60_000), "end": now}
    return {"name": check["name"], "verdict": "errored", **numbers, "window": window, "reason": why}


def evaluate(url, body):
    headers = {"content-type": "application/json"}
    if os.environ.get("CONVEYOR_HCS_TOKEN"):
        headers["authorization"] = f"Bearer {os.environ['CONVEYOR_HCS_TOKEN']}"
    request = urllib.request.Request(f"{url.rstrip('/')}/evaluate", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=8) as response:
        return json.load(response)


def once(fleet, method, request, key, work):
    """A repetition gets the first answer; the key and its effect are recorded together. Refused calls are forgotten."""
    said = [method, request]
    if key in fleet.state["calls"]:
        first = fleet.state["calls"][key]
        if first["said"] != said:
            raise Refused(409, "key-reused", f"the key {key} was used for another request")
        return first["answer"]
    answer = work()
    fleet.state["calls"][key] = {"said": said, "answer": answer}
    fleet.save()
    return answer


def handler_of(push_type, lock, token):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            try:
                self.answer(200, self.call())
            except Refused as error:
                self.fail(error.status, error.code, str(error), False)
            except Exception as error:  # worth a retry
                self.fail(500, "internal", repr(error), True)

        def call(self):
            length = int(self.headers.get("content-length") or 0)
            if length > MAX_BODY:
                self.close_connection = True
                raise Refused(413, "too-large", "a body is at most 1 MiB")
            raw = self.rfile.read(length)
            if token and self.headers.get("authorization") != f"Bearer {token}":
                raise Refused(401, "unauthorized", "the bearer token is missing or wrong")
            method = self.path.strip("/")
            if method == "grow":  # not a method of the protocol: adds a task, as in a growing fleet
                return self.grow(body_of(raw))
            if method not in LOOKS + CHANGES:
                raise Refused(404, "unknown-method", f"there is no method {method}")
            return self.perform(method, body_of(raw))

        def grow(self, body):
            with lock:
                push_type.fleet.grow(body["unit"])
                push_type.fleet.save()
            return {}

        def perform(self, method, body):
            context = body.pop("context", None)
            require(isinstance(context, dict) and isinstance(context.get("config"), dict), "context: missing")
            key = self.headers.get("idempotency-key")
            require(key or method not in CHANGES, "Idempotency-Key: missing")
            work = lambda: getattr(push_type, method)(body, context)
            with lock:
                return once(push_type.fleet, method, body, key, work) if method in CHANGES else work()

        def fail(self, status, code, message, retryable):
            self.answer(status, {"error": {"code": code, "message": message, "retryable": retryable}})

        def answer(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def body_of(raw):
    try:
        body = json.loads(raw)
    except ValueError:
        raise Refused(400, "invalid-request", "body: not JSON") from None
    require(isinstance(body, dict), "body: expected an object")
    return body


def main():
    parser = argparse.ArgumentParser(description="A push type for folders that point to versions.")
    parser.add_argument("--port", type=int, default=4630)
    parser.add_argument("--home", default=".conveyor/python", help="where the tasks and state.json are")
    parser.add_argument("--versions", default=str(HERE / "versions"), help="holds a folder for each version")
    parser.add_argument("--units", default="web-a,web-b")
    parser.add_argument("--size", type=int, default=6, help="tasks of a unit")
    parser.add_argument("--first-version", default="1.0")
    parser.add_argument("--step-ms", type=float, default=250, help="time between two steps; a task takes two")
    options = parser.parse_args()
    fleet = Fleet(options.home, options.versions, options.units.split(","), options.size, options.first_version)
    lock = threading.Lock()
    handler = handler_of(PushType(fleet), lock, os.environ.get("PUSH_TYPE_TOKEN"))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready on http://127.0.0.1:{server.server_address[1]}", flush=True)
    while True:
        with lock:
            fleet.step()
        time.sleep(options.step_ms / 1000)


if __name__ == "__main__":
    main()
