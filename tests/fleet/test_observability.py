"""Prometheus scrapes a fleet: every query of the dashboard finds series, every alert fires in
promtool's tests, and a trace passes through the proxy to a node's log."""

import contextlib
import http.client
import json
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

from fleet import FLEET, NODES, Fleet
from server import PATIENCE, free_port, wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def queries():
    panels = json.loads((FLEET / "dashboard.json").read_text())["panels"]
    return {
        f"{panel['title']}: {target['refId']}": target["expr"]
        for panel in panels
        for target in panel["targets"]
    }


class Prometheus(contextlib.AbstractContextManager):
    """The program with prometheus.yml, its targets those of a fleet on loopback, asked each
    second."""

    def __init__(self, fleet):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        text = (
            (FLEET / "prometheus.yml")
            .read_text()
            .replace("scrape_interval: 15s", "scrape_interval: 1s")
        )
        targets = {f"{name}:8080": f"127.0.0.1:{fleet.nodes[name].port}" for name in NODES}
        targets["haproxy:8404"] = "127.0.0.1:%d" % fleet.status.getsockname()[1]
        for name, address in targets.items():
            text = text.replace(f'"{name}"', f'"{address}"')
        Path(self.folder.name, "prometheus.yml").write_text(text)
        Path(self.folder.name, "alerts.yml").write_text((FLEET / "alerts.yml").read_text())
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={self.folder.name}/prometheus.yml",
                f"--web.listen-address=127.0.0.1:{self.port}",
                f"--storage.tsdb.path={self.folder.name}/data",
                "--log.level=error",
            ],
            stdin=subprocess.DEVNULL,
        )

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.folder.cleanup()

    def query(self, expression):
        """The series of an expression; None as long as there is no answer."""
        with contextlib.suppress(OSError), contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        ) as wire:
            wire.request("GET", "/api/v1/query?query=" + urllib.parse.quote(expression))
            reply = wire.getresponse()
            if reply.status == 503:  # it still starts
                return None
            answer = json.loads(reply.read())
            if answer["status"] != "success":
                raise AssertionError(f"{expression}: {answer}")
            return answer["data"]["result"]


class Observability(unittest.TestCase):
    def test_every_panel_of_the_dashboard_shows_series(self):
        with Fleet() as fleet, Prometheus(fleet) as prometheus:
            wait_until(
                lambda: len(prometheus.query("up == 1") or []) == len(NODES) + 1,
                "every target is scraped",
            )
            missing = dict(queries())
            deadline = time.monotonic() + PATIENCE
            turn = 0
            while missing:
                self.assertLess(time.monotonic(), deadline, f"no series: {missing}")
                turn += 1
                for i in range(20):
                    fleet.request("GET", f"/v1/encodings/sinusoidal?length=4&dim=8&offset={i}")
                    fleet.request(
                        "GET",
                        f"/v1/encodings/sinusoidal?length=64&dim=8&offset={20 * turn + i}",
                    )
                for name, expression in list(missing.items()):
                    series = prometheus.query(expression.replace("$__rate_interval", "30s"))
                    values = [sample["value"][1] for sample in series or []]
                    if any(value != "NaN" for value in values):
                        del missing[name]
            self.assertGreater(len(queries()), 15)

    def test_alerts_fire_when_they_should(self):
        for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
            ended = subprocess.run(
                ["promtool", *command], cwd=FLEET, capture_output=True, text=True, check=False
            )
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        fired = set(
            re.findall(
                r"alertname: (\w+)\n\s+exp_alerts:", (FLEET / "alerts_test.yml").read_text()
            )
        )
        self.assertEqual(
            fired, set(re.findall(r"alert: (\w+)", (FLEET / "alerts.yml").read_text()))
        )

    def test_alerts_and_panels_use_metrics_that_exist(self):
        with Fleet() as fleet:
            text = fleet.request("GET", "/metrics")[2].decode()
        texts = [*queries().values(), (FLEET / "alerts.yml").read_text()]
        named = set(re.findall(r"\b((?:posenc|process)_[a-z_]+)\b", " ".join(texts)))
        self.assertGreater(len(named), 12)
        families = {re.sub("_(bucket|sum|count)$", "", name) for name in named}
        self.assertLessEqual(families, set(re.findall(r"(?m)^# TYPE (\w+) ", text)))

    def test_a_trace_passes_through_the_proxy_to_the_log(self):
        with Fleet("--access-log=true") as fleet:
            fields = {
                "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
                "X-Request-Id": "seen-by-the-proxy",
            }
            _, headers, _ = fleet.request(
                "GET", "/v1/encodings/sinusoidal?length=4&dim=8", headers=fields
            )
            node = fleet.nodes[headers["X-Posenc-Node"]].server
            wait_until(
                lambda: TRACE in node.log() and "seen-by-the-proxy" in node.log(),
                "the log has both",
            )


if __name__ == "__main__":
    unittest.main()
