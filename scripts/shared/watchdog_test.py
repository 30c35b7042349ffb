import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

WATCHDOG = Path(__file__).with_name("watchdog.py")


def watched(command, quiet):
    return subprocess.run(
        [WATCHDOG, "--quiet", str(quiet), *command], capture_output=True, text=True, check=False)


class WatchdogTest(unittest.TestCase):
    def test_output_and_status_pass_through(self):
        result = watched(["sh", "-c", "echo one; echo two >&2; exit 7"], 60)
        self.assertEqual((result.returncode, result.stdout), (7, "one\ntwo\n"))

    def test_a_signal_that_ends_the_command_shows_in_its_status(self):
        self.assertEqual(watched(["sh", "-c", "kill -KILL $$"], 60).returncode, 137)

    def test_what_neither_writes_nor_works_is_ended_with_all_its_children(self):
        result = watched(["sh", "-c", "sleep 3600 & echo $!; wait"], 0.5)
        self.assertEqual(result.returncode, 124)
        child, said = result.stdout.splitlines()
        self.assertIn("no output and no work for 0.5 s", said)
        # Its parent may not have waited for it yet.
        status = Path(f"/proc/{child}/stat")
        self.assertTrue(not status.exists() or ") Z " in status.read_text())

    def test_silent_work_of_a_child_goes_on(self):
        # It works for longer than the quiet time, whatever else the machine does.
        work = "import time\nwhile time.process_time() < 3: pass"
        self.assertEqual(watched(["sh", "-c", '"$0" -c "$1"; true', sys.executable, work], 2).returncode, 0)

    def test_output_without_work_goes_on(self):
        self.assertEqual(watched(["sh", "-c", "for n in $(seq 16); do sleep 0.25; echo $n; done"], 3).returncode, 0)

    def test_a_process_that_is_left_behind_is_not_waited_for(self):
        result = watched(["sh", "-c", "sleep 3600 & echo $!"], 60)
        os.kill(int(result.stdout), signal.SIGKILL)
        self.assertEqual(result.returncode, 0)


if __name__ == "__main__":
    unittest.main()
