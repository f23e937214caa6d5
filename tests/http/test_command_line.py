"""The settings: flags, environment, defaults, and the actions that do not serve."""

import json
import re
import socket
import unittest

from server import Server, ServerCase, run, wait_for_health

FLAGS = {
    "bind", "port", "unix-socket", "unix-socket-mode", "unix-socket-group",
    "cache-bytes", "max-elements", "json-max-elements", "png-max-pixels", "max-list-length",
    "max-target-bytes", "max-body-bytes", "max-connections", "drain-seconds",
    "log-format", "access-log", "data-dir", "api-key-file", "max-upload-bytes",
    "max-store-bytes", "max-stored-sets", "set-cache-bytes", "database-url",
}  # fmt: skip
ACTIONS = {"help", "version", "check-config", "print-schema", "healthcheck"}


def settings(*flags, **variables):
    """What --check-config prints, as {name: text}."""
    ended = run("--check-config", *flags, environment=variables)
    if ended.returncode != 0:
        raise AssertionError(ended)
    return dict(line.split(" = ", 1) for line in ended.stdout.splitlines())


class CommandLine(unittest.TestCase):
    def assert_refused(self, ended, *texts):
        """Exit status 2, nothing on stdout, one line on stderr that holds the texts."""
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for text in texts:
            self.assertIn(text, ended.stderr)

    def test_help_lists_every_flag_with_variable_and_default(self):
        ended = run("--help")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        listed = set(re.findall(r"^  --([a-z-]+) ", ended.stdout, re.MULTILINE))
        printed = settings()
        self.assertEqual(listed, set(printed) | ACTIONS)
        self.assertLessEqual(FLAGS, set(printed))
        for name in printed:
            variable = "POSENC_" + name.upper().replace("-", "_")
            self.assertRegex(ended.stdout, rf"\b{variable}\b.*default")
        for line in ended.stdout.splitlines():
            self.assertLessEqual(len(line), 110, line)

    def test_version_is_one_line_and_names_the_libmicrohttpd_that_runs(self):
        ended = run("--version")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertRegex(
            ended.stdout, r"\Aposenc \d+\.\d+\.\d+ \(libmicrohttpd \d+\.\d+\.\d+\S*\)\n\Z"
        )

    def test_defaults_are_those_of_the_contract(self):
        expected = {
            "bind": "127.0.0.1",
            "port": "8080",
            "unix-socket": "",
            "cache-bytes": str(256 << 20),
            "max-elements": str(2**36),
            "json-max-elements": str(2**24),
            "png-max-pixels": str(2**24),
            "max-list-length": str(2**20),
            "max-target-bytes": str(16 << 10),
            "max-body-bytes": str(8 << 20),
            "max-connections": "1024",
            "data-dir": "",
            "api-key-file": "",
            "max-upload-bytes": str(256 << 20),
            "max-store-bytes": str(512 << 20),
            "max-stored-sets": "1024",
            "set-cache-bytes": str(512 << 20),
            "drain-seconds": "5",
            "access-log": "false",
        }
        self.assertLessEqual(expected.items(), settings().items())

    def test_a_store_on_disk_may_be_larger(self):
        self.assertEqual(settings("--data-dir", "/x")["max-store-bytes"], str(4 << 30))
        given = ("--data-dir=/x", "--max-store-bytes=5MiB")
        self.assertEqual(settings(*given)["max-store-bytes"], str(5 << 20))

    def test_a_database_is_refused_by_a_build_without_it_and_never_shown(self):
        """Where this build has PostgreSQL, only what it cannot read is refused."""
        url = "postgresql://posenc:secret%zz@127.0.0.1:1/posenc"
        for given in (
            {"POSENC_DATABASE_URL": url},
            {"POSENC_DATABASE_URL": "mysql://posenc:secret@h/d"},
        ):
            for action in ((), ("--check-config",)):
                ended = run(*action, environment=given)
                self.assert_refused(
                    ended, "the value is not a URL" if "mysql" in str(given) else "database-url"
                )
                self.assertNotIn("secret", ended.stderr)
        for url in (
            "postgresql://posenc:first@secret@127.0.0.1:1/posenc",
            "postgresql://posenc:secret/second@127.0.0.1:1/posenc",
            "postgresql://posenc:secret/posenc",
        ):  # libpq would take a part of the password for a host or a port, and name it
            for action in ((), ("--check-config",)):
                ended = run(*action, environment={"POSENC_DATABASE_URL": url})
                self.assert_refused(ended, "the value is not a URL", "%40", "%2F")
                self.assertNotIn("secret", ended.stderr + ended.stdout)
        ended = run("--database-url=postgresql://a:secret@h/d", "--data-dir", "/x")
        self.assert_refused(ended, "database-url", "data-dir")
        self.assertNotIn("secret", ended.stderr)

    def test_print_schema_prints_one_transaction(self):
        ended = run("--print-schema")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertRegex(
            ended.stdout,
            r"(?s)\A(--[^\n]*\n)*BEGIN;\n.*CREATE TABLE posenc\.sets .*COMMIT;\n\Z",
        )

    def test_a_flag_beats_the_environment_and_this_the_default(self):
        variable = {"POSENC_CACHE_BYTES": "2MiB", "POSENC_ACCESS_LOG": "true"}
        variable["POSENC_BIND"] = "0.0.0.0"
        self.assertEqual(settings(**variable)["cache-bytes"], str(2 << 20))
        self.assertEqual(settings(**variable)["bind"], "0.0.0.0")
        self.assertEqual(settings(**variable)["access-log"], "true")
        flags = ("--cache-bytes=3MiB", "--bind", "::1", "--access-log=false")
        beating = {"cache-bytes": str(3 << 20), "bind": "::1", "access-log": "false"}
        for name, value in beating.items():
            self.assertEqual(settings(*flags, **variable)[name], value)

    def test_a_server_obeys_flag_then_environment_then_default(self):
        environment = {"POSENC_CACHE_BYTES": "2MiB", "POSENC_MAX_ELEMENTS": "77"}
        server = Server("--cache-bytes", "3MiB", environment=environment)
        self.addCleanup(server.stop)
        limits = server.request("GET", "/v1/info").json()["limits"]
        self.assertEqual(limits["cache-bytes"]["value"], 3 << 20)
        self.assertEqual(limits["max-elements"]["value"], 77)
        self.assertEqual(limits["max-list-length"]["value"], 2**20)

    def test_bytes_take_binary_units(self):
        sizes = {"1000000": 10**6, "64KiB": 1 << 16, "1MiB": 1 << 20, "2GiB": 2 << 30}
        for text, value in sizes.items():
            self.assertEqual(settings("--cache-bytes", text)["cache-bytes"], str(value))

    def test_check_config_names_the_wrong_flag(self):
        wrong = [
            ("--port", "x"), ("--port", "65536"), ("--port", "-1"), ("--port", ""),
            ("--port", " 1"), ("--port", "1e3"), ("--port", "0x50"),
            ("--cache-bytes", "1MB"), ("--cache-bytes", "MiB"),
            ("--cache-bytes", "99999999999999999999999"),
            ("--cache-bytes", "99999999999999GiB"),
            ("--cache-bytes", "1"), ("--max-elements", "0"), ("--max-elements", "1KiB"),
            ("--log-format", "xml"), ("--drain-seconds", "soon"), ("--max-connections", "0"),
        ]  # fmt: skip
        for flag, value in wrong:
            for written in ((flag, value), (f"{flag}={value}",)):
                with self.subTest(written):
                    self.assert_refused(run("--check-config", *written), flag, f'"{value}"')
        self.assert_refused(run("--check-config", "--access-log=maybe"), "--access-log", "true")

    def test_an_unknown_flag_suggests_the_right_one(self):
        mistakes = {
            "--prot": "--port",
            "--prot=8080": "--port",
            "--cache-byte=1MiB": "--cache-bytes",
            "--unix-sokcet=/tmp/x": "--unix-socket",
            "--check-confg": "--check-config",
            "--hlep": "--help",
            "-port": "--port",
        }
        for flag, suggestion in mistakes.items():
            with self.subTest(flag):
                ended = run("--check-config", flag)
                self.assert_refused(ended, flag.split("=")[0], f"did you mean {suggestion}?")
        for flag in ("serve", "--zzzzzzzz", "", "--", "-", "--=1"):
            with self.subTest(flag):
                self.assertEqual(run("--check-config", flag).returncode, 2)

    def test_a_flag_without_its_value_is_named(self):
        self.assert_refused(run("--check-config", "--port"), "--port", "value")

    def test_every_mistake_has_its_line(self):
        flags = ("--port=x", "--cache-bytes=y", "--zzz")
        ended = run("--check-config", *flags, environment={"POSENC_THREADS": "many"})
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 4), ended)
        for text in ("--port", "--cache-bytes", "--zzz", "POSENC_THREADS"):
            self.assertIn(text, ended.stderr)

    def test_the_environment_is_checked_alike(self):
        ended = run("--check-config", environment={"POSENC_PORT": "eighty"})
        self.assert_refused(ended, "POSENC_PORT", '"eighty"')
        ended = run("--check-config", environment={"POSENC_PROT": "80"})
        self.assert_refused(ended, "POSENC_PROT")
        ended = run("--check-config", environment={"posenc_port": "x", "XPOSENC_PORT": "x"})
        self.assertEqual(ended.returncode, 0)

    def test_a_server_does_not_start_with_wrong_settings(self):
        wrong = [(("--port", "x"), {}), (("--prot", "0"), {}), ((), {"POSENC_X": "1"})]
        for arguments, variables in wrong:
            ended = run(*arguments, environment=variables)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertTrue(ended.stderr)


class Listening(ServerCase):
    def test_port_0_takes_a_free_port_and_prints_it(self):
        other = self.start()
        self.assertRegex(other.url, r"\Ahttp://127\.0\.0\.1:\d+\Z")
        self.assertNotEqual(other.url, self.server.url)
        self.assert_ok(other.request("GET", "/health/ready"))

    def test_a_port_in_use_is_one_clear_line_and_exit_1(self):
        port = str(self.server.address[1])
        ended = run("--port", port)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        other = int(port) + 1 if port != "65535" else 8080
        ways_out = (f"--port {other}", f"POSENC_PORT={other}", f"make run PORT={other}")
        for text in ("127.0.0.1", port, "in use", *ways_out):
            self.assertIn(text, ended.stderr)
        self.assert_ok(self.get("/health/ready"))

    def test_an_address_that_is_not_ours_is_one_clear_line_and_exit_1(self):
        for address in ("203.0.113.1", "no such host", "256.1.1.1"):
            with self.subTest(address):
                ended = run("--bind", address, "--port", "0")
                self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
                self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
                self.assertIn(address, ended.stderr)

    def test_a_failure_to_listen_is_logged_as_json_where_asked_for(self):
        ended = run("--port", str(self.server.address[1]), "--log-format", "json")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(json.loads(ended.stderr)["level"], "error")

    def test_bind_listens_on_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError as reason:
            self.skipTest(f"no IPv6 here: {reason}")
        server = self.start("--bind", "::1")
        self.assertRegex(server.url, r"\Ahttp://\[::1\]:\d+\Z")
        self.assert_ok(server.request("GET", "/health/ready"))
        port = str(server.address[1])
        wait_for_health("--bind", "::1", "--port", port)

    def test_a_name_may_be_bound(self):
        try:
            socket.getaddrinfo("localhost", None)
        except socket.gaierror as reason:
            self.skipTest(f"no name localhost here: {reason}")
        server = self.start("--bind", "localhost")
        self.assert_ok(server.request("GET", "/health/ready"))


if __name__ == "__main__":
    unittest.main()
