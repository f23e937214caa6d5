"""Two servers on one database: what one stores, the other has; conditions hold across both."""

import statistics
import subprocess
import threading
import time
import unittest

from cluster import PASSWORD
from nodes import PATH, STANDSTILL, PostgresCase, digest, in_threads, large, seconds_until
from server import BINARY, PATIENCE, environment_with, wait_until
from steady import steadily
from stored import simple, tag


@steadily(STANDSTILL)
class Shared(PostgresCase):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.start(), self.start()

    def test_what_one_server_stores_all_serve(self):
        self.assertEqual(
            self.a.request("GET", "/v1/info").json()["store"]["kind"], "postgresql"
        )
        self.assertEqual(self.put(self.a, "one", simple()), 201)
        self.assertEqual(self.get(self.b, "one").body, simple())
        self.assertEqual(self.put(self.b, "one", simple(8, 3.0)), 204)
        wait_until(
            lambda: self.get(self.a, "one").body == simple(8, 3.0), "the replacement is known"
        )
        self.assertEqual(self.a.request("DELETE", f"{PATH}/one").status, 204)
        wait_until(lambda: self.get(self.b, "one").status == 404, "the removal is known")
        self.assertEqual((self.names(self.a), self.names(self.b)), ([], []))

    def test_a_new_name_is_known_everywhere_when_its_upload_is_acknowledged(self):
        """Also where no notification has come yet: an unknown name is looked up."""
        for i in range(50):
            self.assertEqual(self.put(self.a, f"set-{i}", simple(4, i)), 201)
            self.assertEqual(self.get(self.b, f"set-{i}").body, simple(4, i))

    def test_a_change_is_noticed_within_100_ms(self):
        times = []
        self.put(self.a, "one", simple(4))
        for i in range(1, 41):
            body = simple(4, i)
            self.assertEqual(self.put(self.a, "one", body), 204)
            times.append(
                seconds_until(
                    lambda: self.b.request("HEAD", f"{PATH}/one").header("ETag") == tag(body),
                    "noticed",
                )
            )
        print(
            f"postgres: noticed after {statistics.median(times) * 1000:.1f} ms, at most "
            f"{max(times) * 1000:.1f}"
        )
        self.assertLess(statistics.median(times), 0.1)

    def test_a_change_whose_notification_is_lost_is_noticed_by_polling(self):
        self.put(self.a, "one", simple(4))
        self.assertEqual(self.get(self.b, "one").body, simple(4))
        self.cluster.sql("ALTER TABLE posenc.sets DISABLE TRIGGER tell")
        self.assertEqual(self.put(self.a, "one", simple(4, 9.0)), 204)
        self.assertEqual(self.get(self.a, "one").body, simple(4, 9.0))
        wait_until(lambda: self.get(self.b, "one").body == simple(4, 9.0), "the poll")

    def test_of_8_racers_one_creates(self):
        bodies = [simple(3000, i) for i in range(8)]
        statuses = in_threads(
            8,
            lambda i: self.put(
                (self.a, self.b)[i % 2], "one", bodies[i], **{"If-None-Match": "*"}
            ),
        )
        self.assertEqual(sorted(statuses), [201] + [412] * 7)
        winner = bodies[statuses.index(201)]
        for server in (self.a, self.b):
            wait_until(
                lambda: self.get(server, "one").body == winner, "the winner's set"
            )  # noqa: B023

    def test_if_match_is_compare_and_swap_across_servers(self):
        """Each of 4 clients counts up 10 times; no step is lost."""
        self.put(self.a, "count", simple(2, 0.0))
        bodies = {tag(simple(2, float(i))): i for i in range(64)}

        def count(client):
            done = 0
            while done < 10:
                server = (self.a, self.b)[client % 2]
                seen = self.get(server, "count").header("ETag")
                status = self.put(
                    server, "count", simple(2, bodies[seen] + 1.0), **{"If-Match": seen}
                )
                self.assertIn(status, (204, 412))
                done += status == 204
            return done

        self.assertEqual(in_threads(4, count), [10] * 4)
        for server in (self.a, self.b):
            wait_until(
                lambda: self.get(server, "count").header("ETag") == tag(simple(2, 40.0)),
                "all steps",
            )  # noqa: B023

    def test_servers_never_mix_sets(self):
        """Bodies of three sizes replace each other on both servers; each answer is one of them,
        with its tag, and every table that is computed is that of one."""
        bodies = [large(300_000 + 1000 * i, float(i)) for i in range(3)]
        digests = {digest(body) for body in bodies}
        begun, counts = time.monotonic(), {"read": 0, "written": 0}

        def goes_on():
            """For three seconds, and longer on a slow machine."""
            seconds = time.monotonic() - begun
            return seconds < (3 if min(counts.values()) > 10 else PATIENCE)

        def write(i):
            while goes_on():
                self.assertIn(
                    self.put((self.a, self.b)[i % 2], "one", bodies[counts["written"] % 3]),
                    (201, 204),
                )
                counts["written"] += 1

        def read(i):
            while goes_on():
                stored = counts["written"] > 0
                reply = self.get((self.a, self.b)[i % 2], "one")
                if reply.status == 404 and not stored:
                    continue
                if (
                    reply.status == 503
                ):  # it was replaced whenever the server had begun to read it
                    self.assert_unavailable(reply)
                    continue
                self.assertEqual(reply.status, 200, reply)
                self.assertIn(digest(reply.body), digests)
                self.assertEqual(reply.header("ETag"), f'"{digest(reply.body)}"')
                counts["read"] += 1
            return True

        results = in_threads(4, lambda i: write(i) or True if i < 2 else read(i))
        self.assertEqual(results, [True] * 4)
        print(f"postgres: {counts['written']} replacements, {counts['read']} whole sets read")
        self.assertGreater(min(counts.values()), 10)

    def test_kill_9_in_the_middle_of_an_upload_leaves_nothing(self):
        body = large(8_000_000, 1.0)
        self.put(self.a, "one", simple())
        for name in ("one", "two"):
            wait_until(lambda: self.kill_while_uploading(name, body), "a kill in the middle")
        self.assertEqual(
            self.cluster.sql("SELECT count(*), count(DISTINCT set_id) FROM posenc.chunks"),
            "1|1",
        )
        self.assertEqual(self.names(self.b), ["one"])
        self.assertEqual(self.get(self.b, "one").body, simple())

    def kill_while_uploading(self, name, body):
        """False if the upload had ended before its chunks were seen; then it is as before."""
        killed = self.start()
        thread = threading.Thread(target=self.swallow, args=(killed, name, body))
        thread.start()
        seen = wait_until(
            lambda: "seen" if self.has_uncommitted() else not thread.is_alive(), "chunks"
        )
        killed.kill()
        killed.stderr.close()
        thread.join()
        wait_until(lambda: not self.has_uncommitted(), "the database has noticed")
        if seen == "seen" and self.cluster.sql(
            f"SELECT bytes FROM posenc.sets WHERE name = '{name}'"
        ) != str(len(body)):
            return True
        self.put(self.a, "one", simple())
        self.a.request("DELETE", f"{PATH}/two")
        return False

    def swallow(self, server, name, body):
        try:
            self.put(server, name, body)
        except OSError:
            pass

    def has_uncommitted(self):
        return (
            self.cluster.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO "
                "posenc.chunks%' AND state <> 'idle'"
            )
            != "0"
        )

    def test_the_limits_count_the_sets_of_all_servers(self):
        c = self.start("--max-stored-sets", "2")
        self.assertEqual([self.put(self.a, name, simple()) for name in "xy"], [201, 201])
        reply = c.request("PUT", f"{PATH}/z", {}, simple())
        self.assertEqual((reply.status, reply.json()["code"]), (507, "store_full"))
        self.assertEqual(self.put(c, "y", simple(3)), 204)


@steadily(STANDSTILL)
class Schema(PostgresCase):
    def refused(self, *texts, **variables):
        ended = subprocess.run(
            [BINARY, "--port", "0"],
            env=environment_with({"POSENC_DATABASE_URL": self.url, **variables}),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for text in ("database-url", *texts):
            self.assertIn(text, ended.stderr)
        self.assertNotIn(PASSWORD, ended.stderr)

    def test_servers_that_start_together_make_the_tables_once(self):
        servers = in_threads(4, lambda _: self.start())
        wait_until(lambda: all(self.is_up(server) for server in servers), "all are up")
        self.assertEqual(self.cluster.sql("SELECT version FROM posenc.schema_version"), "1")

    def test_tables_of_a_later_release_are_refused(self):
        running = self.start()
        self.cluster.sql("UPDATE posenc.schema_version SET version = 2")
        self.refused("later release")
        self.assertEqual(self.put(running, "one", simple()), 503)
        wait_until(lambda: not self.is_up(running), "the running server notices")
        self.cluster.sql("UPDATE posenc.schema_version SET version = 1")
        wait_until(lambda: self.is_up(running), "and comes back")
        self.assertEqual(self.put(running, "one", simple()), 201)

    def test_a_role_without_ddl_uses_the_printed_schema(self):
        self.cluster.sql(
            "DROP ROLE IF EXISTS small; CREATE ROLE small LOGIN PASSWORD 'small-secret'"
        )
        self.addCleanup(self.cluster.sql, "DROP OWNED BY small; DROP ROLE small")
        url = self.url.replace("posenc:", "small:", 1).split("@")[1]
        self.url = f"postgresql://small:small-secret@{url}"
        self.refused("permission denied", "--print-schema")
        schema = subprocess.run(
            [BINARY, "--print-schema"], capture_output=True, text=True, check=True
        ).stdout
        self.cluster.sql(schema)
        grants = [
            line.split("--   ")[1].replace("ROLE", "small")
            for line in schema.splitlines()
            if "GRANT" in line
        ]
        self.assertEqual(len(grants), 3)
        self.cluster.sql(" ".join(grants))
        server = self.start()
        self.assertEqual(self.put(server, "one", simple()), 201)
        self.assertEqual(self.put(server, "one", simple(3)), 204)
        self.assertEqual(server.request("DELETE", f"{PATH}/one").status, 204)

    def test_a_wrong_password_is_logged_without_it(self):
        url = self.url.replace("%25@", "%25wrong@")
        server = self.start(url=url, reached=False)
        self.assert_unavailable(self.get(server, "one"))
        self.assertIn("password\\x20authentication\\x20failed", server.log())
        self.assertNotIn("wrong", server.log())


if __name__ == "__main__":
    unittest.main()
