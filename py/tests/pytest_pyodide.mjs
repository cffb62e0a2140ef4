// Runs pytest in Pyodide under Node, for scripts/test_pyodide:
// node pytest_pyodide.mjs PYODIDE_FOLDER ROOT PACKAGES ARGUMENTS…
// Exits with pytest's status. Nothing is fetched: all folders are on this machine.

import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [folder, root, packages, ...words] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);

/** Passes bytes on as they come; a full pipe is tried again. */
function writer(descriptor) {
  return (bytes) => {
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(descriptor, bytes, done);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
    return bytes.length;
  };
}

const pyodide = await loadPyodide({
  env: { ...process.env, HOME: "/home/pyodide" },
  packages: [],
});
pyodide.setStdout({ write: writer(1), isatty: false });
pyodide.setStderr({ write: writer(2), isatty: false });
for (const [place, mounted] of [["/project", root], ["/packages", packages]]) {
  pyodide.FS.mkdirTree(place);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: mounted }, place);
}
pyodide.globals.set("words", pyodide.toPy(words));
try {
  process.exitCode = pyodide.runPython(`
import os, sys
os.chdir("/project")
sys.path.insert(0, "/packages")
import pytest
int(pytest.main(words))
`);
} catch (error) {
  // The interpreter's own end, or an error of pytest itself: Node would print Pyodide's whole source.
  console.error(error.message);
  process.exitCode = 3;
}
