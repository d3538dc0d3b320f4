// BullMQ against a running server: jobs are added, delayed, retried, repeated and completed, and none is lost.
"use strict";
const assert = require("node:assert");
const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq");
const Redis = require("ioredis");
const { port, runAll, until } = require("./harness");

const connection = { host: "127.0.0.1", port };

const tests = {
  async "every job is done once, by several workers"(open) {
    const queue = open(new Queue("plain", { connection }));
    const done = [];
    const work = async (job) => {
      done.push(job.data.number);
      return job.data.number * 2;
    };
    for (let i = 0; i < 4; i++) open(new Worker("plain", work, { connection, concurrency: 5 }));
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    await queue.addBulk(numbers.map((number) => ({ name: "double", data: { number } })));
    await until(async () => (await queue.getJobCounts("completed")).completed === 300, "300 completed");
    assert.deepStrictEqual([...done].sort((a, b) => a - b), numbers);
    const counts = await queue.getJobCounts("waiting", "active", "delayed", "failed");
    assert.deepStrictEqual(counts, { waiting: 0, active: 0, delayed: 0, failed: 0 });
    const jobs = await queue.getCompleted(0, 400);
    assert.ok(jobs.every((job) => job.returnvalue === job.data.number * 2));
  },

  async "delayed jobs come in the order of their time"(open) {
    const queue = open(new Queue("delayed", { connection }));
    await queue.add("late", {}, { delay: 400 });
    await queue.add("soon", {}, { delay: 200 });
    await queue.add("now", {});
    const order = [];
    open(new Worker("delayed", async (job) => void order.push(job.name), { connection }));
    await until(() => order.length === 3, "three jobs");
    assert.deepStrictEqual(order, ["now", "soon", "late"]);
  },

  async "a failing job is tried again, and kept when it never works"(open) {
    const queue = open(new Queue("retried", { connection }));
    const events = open(new QueueEvents("retried", { connection }));
    await events.waitUntilReady();
    const tries = {};
    open(new Worker("retried", async (job) => {
      tries[job.name] = (tries[job.name] ?? 0) + 1;
      if (job.name === "never" || tries[job.name] < 3) throw new Error("not yet");
      return "at last";
    }, { connection }));
    const options = { attempts: 3, backoff: { type: "fixed", delay: 20 } };
    const third = await queue.add("third", {}, options);
    const never = await queue.add("never", {}, options);
    assert.strictEqual(await third.waitUntilFinished(events), "at last");
    await assert.rejects(never.waitUntilFinished(events), /not yet/);
    assert.deepStrictEqual(tries, { third: 3, never: 3 });
    assert.strictEqual((await queue.getFailed()).length, 1);
  },

  async "priorities and order"(open) {
    const queue = open(new Queue("ordered", { connection }));
    for (const priority of [30, 10, 20]) await queue.add(`p${priority}`, {}, { priority });
    await queue.add("plain", {});
    await queue.add("last in", {}, { lifo: true });
    const order = [];
    open(new Worker("ordered", async (job) => void order.push(job.name), { connection }));
    await until(() => order.length === 5, "five jobs");
    assert.deepStrictEqual(order, ["last in", "plain", "p10", "p20", "p30"]);
  },

  async "a parent waits for its children"(open) {
    const flow = open(new FlowProducer({ connection }));
    const child = (value) => ({ name: "child", queueName: "children", data: { value } });
    const results = [];
    open(new Worker("children", async (job) => job.data.value, { connection }));
    open(new Worker("parents", async (job) => {
      results.push(Object.values(await job.getChildrenValues()).sort());
    }, { connection }));
    await flow.add({ name: "parent", queueName: "parents", children: [child(1), child(2), child(3)] });
    await until(() => results.length === 1, "the parent");
    assert.deepStrictEqual(results, [[1, 2, 3]]);
  },

  async "paused, drained, rate limited"(open) {
    const queue = open(new Queue("held", { connection }));
    await queue.pause();
    for (let i = 0; i < 6; i++) await queue.add("job", { i });
    const seen = [];
    const worker = open(new Worker("held", async (job) => void seen.push(job.data.i), {
      connection,
      limiter: { max: 2, duration: 100 },
    }));
    await worker.waitUntilReady();
    const { paused, waiting } = await queue.getJobCounts("paused", "waiting");
    assert.strictEqual(paused + waiting, 6);
    assert.deepStrictEqual(seen, []);
    await queue.resume();
    await until(() => seen.length === 6, "six jobs");
    assert.deepStrictEqual(seen, [0, 1, 2, 3, 4, 5]);
    await queue.obliterate({ force: true });
    assert.deepStrictEqual(await queue.getJobs(), []);
  },
};

runAll(tests, async (test) => {
  const client = new Redis(connection);
  await client.flushall();
  client.disconnect();
  const opened = [];
  const open = (thing) => {
    thing.on?.("error", () => {});
    opened.push(thing);
    return thing;
  };
  try {
    await test(open);
  } finally {
    await Promise.all(opened.reverse().map((thing) => thing.close()));
  }
});
