import io
import os
import pathlib
import tarfile
import tempfile
import unittest

import archive


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tree(self, name, names, moment):
        root = self.folder / name
        for file in names:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(file)
            os.utime(root / file, (moment, moment))
        return root

    def entries(self, data):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {entry.name: entry for entry in tar}

    def test_equal_files_make_equal_bytes_whenever_and_in_whatever_order_they_were_written(self):
        names = ["bin/program", "share/b", "share/a"]
        first = self.tree("first", names, 1_000)
        second = self.tree("second", reversed(names), 2_000)
        (second / "share/a").chmod(0o600)
        self.assertEqual(archive.tar(first, 5, "herald/"), archive.tar(second, 5, "herald/"))
        self.assertNotEqual(archive.tar(first, 5), archive.tar(first, 6))

    def test_an_archive_says_what_may_be_executed_and_keeps_links_and_sticky_folders(self):
        root = self.tree("root", ["program", "text"], 1_000)
        (root / "program").chmod(0o700)
        (root / "link").symlink_to("text")
        (root / "tmp").mkdir()
        (root / "tmp").chmod(0o1777)
        entries = self.entries(archive.tar(root, 5))
        self.assertEqual((entries["program"].mode, entries["text"].mode), (0o755, 0o644))
        self.assertEqual((entries["link"].linkname, entries["tmp"].mode), ("text", 0o1777))
        self.assertEqual({entry.uid for entry in entries.values()}, {0})

    def test_one_file_under_two_names_is_two_files(self):
        root = self.tree("root", ["a"], 1_000)
        os.link(root / "a", root / "b")
        self.assertTrue(all(entry.isreg() for entry in self.entries(archive.tar(root, 5)).values()))

    def test_compressed_bytes_have_no_time(self):
        self.assertEqual(archive.compressed(b"x")[4:8], bytes(4))


if __name__ == "__main__":
    unittest.main()
