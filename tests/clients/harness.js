// What every node client test shares: a bound on time, one test after the other, the count at the end.
"use strict";

const port = Number(process.argv[2]);

function within(seconds, promise, name) {
  const late = new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`${name}: no end within ${seconds} s`)), seconds * 1000).unref();
  });
  return Promise.race([promise, late]);
}

// Resolves once `condition` is true; it may be asynchronous.
async function until(condition, name, seconds = 15) {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${name}: not within ${seconds} s`);
    await new Promise((next) => setTimeout(next, 5));
  }
}

// Runs `around(test)` for each test of the table, then ends the process.
async function runAll(tests, around) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await within(30, around(test), name);
    } catch (error) {
      failed++;
      console.log(`${name}: ${error.stack}`);
    }
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

module.exports = { port, runAll, until };
