// Libraries that use Redis for locks, limits, sessions and fan-out, each doing its job on a running server.
"use strict";
const assert = require("node:assert");
const http = require("node:http");
const Redis = require("ioredis");
const { createClient } = require("redis");
const { port, runAll, until } = require("./harness");

const connect = () => new Redis({ host: "127.0.0.1", port, retryStrategy: null });

async function listening(app) {
  const server = http.createServer(app);
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

// Two servers whose clients hear each other through the adapter that `adapterOf` makes for a connection.
async function socketsMeet(adapterOf, client) {
  const { Server } = require("socket.io");
  const { io } = require("socket.io-client");
  const servers = [];
  const sockets = [];
  try {
    for (let i = 0; i < 2; i++) {
      const web = await listening();
      const server = new Server(web, { adapter: await adapterOf() });
      server.on("connection", (socket) => socket.on("enter", (room, entered) => {
        socket.join(room);
        entered();
      }));
      servers.push({ web, server });
      const socket = io(`http://127.0.0.1:${web.address().port}`, { transports: ["websocket"] });
      sockets.push(socket);
      await new Promise((ready) => socket.on("connect", ready));
      await socket.emitWithAck("enter", `room${i}`);
    }
    const heard = [[], []];
    sockets.forEach((socket, i) => socket.on("news", (text) => heard[i].push(text)));
    // An adapter subscribes in its own time: it is there once each server knows both sockets.
    for (const { server } of servers) {
      await until(async () => (await server.fetchSockets()).length === 2, "two sockets");
    }
    servers[0].server.emit("news", "to all");
    servers[0].server.to("room1").emit("news", "to room1");
    await until(() => heard[0].length === 1 && heard[1].length === 2, "the news");
    assert.deepStrictEqual(heard, [["to all"], ["to all", "to room1"]]);
  } finally {
    sockets.forEach((socket) => socket.disconnect());
    for (const { server } of servers) await server.close();
  }
}

const tests = {
  async "redlock: one holder at a time"(client) {
    const Redlock = require("redlock");
    const redlock = new Redlock([client], { retryCount: 2000, retryDelay: 5, retryJitter: 5 });
    let inside = 0;
    let most = 0;
    await Promise.all(Array.from({ length: 10 }, async () => {
      const lock = await redlock.lock("resource", 5000);
      most = Math.max(most, ++inside);
      await client.incr("visits");
      inside--;
      await lock.unlock();
    }));
    assert.strictEqual(most, 1);
    assert.strictEqual(await client.get("visits"), "10");
    const held = await redlock.lock("resource", 100);
    await held.extend(5000);
    assert.ok((await client.pttl("resource")) > 1000);
    await assert.rejects(new Redlock([client], { retryCount: 0 }).lock("resource", 100));
    await held.unlock();
    assert.strictEqual(await client.exists("resource"), 0);
  },

  async "rate-limiter-flexible: so many and no more"(client) {
    const { RateLimiterRedis } = require("rate-limiter-flexible");
    const limiter = new RateLimiterRedis({ storeClient: client, points: 5, duration: 60, blockDuration: 60 });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => limiter.consume("visitor")));
    assert.strictEqual(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 5);
    const refused = outcomes.find((outcome) => outcome.status === "rejected").reason;
    assert.strictEqual(refused.remainingPoints, 0);
    await limiter.delete("visitor");
    assert.strictEqual((await limiter.consume("visitor")).remainingPoints, 4);
  },

  async "connect-redis: sessions of express"() {
    const express = require("express");
    const session = require("express-session");
    const { RedisStore } = require("connect-redis");
    const client = await createClient({ socket: { host: "127.0.0.1", port } }).connect();
    const app = express();
    const store = new RedisStore({ client, prefix: "web:", ttl: 100 });
    app.use(session({ store, secret: "for this test", resave: false, saveUninitialized: false }));
    app.get("/", (request, response) => {
      request.session.visits = (request.session.visits ?? 0) + 1;
      response.send(String(request.session.visits));
    });
    const web = await listening(app);
    const visit = (cookie) => fetch(`http://127.0.0.1:${web.address().port}/`, { headers: cookie ? { cookie } : {} });
    const first = await visit();
    const cookie = first.headers.get("set-cookie").split(";")[0];
    assert.strictEqual(await first.text(), "1");
    assert.strictEqual(await (await visit(cookie)).text(), "2");
    assert.strictEqual(await (await visit(cookie)).text(), "3");
    const [id] = await store.ids();
    assert.strictEqual((await client.keys("web:*")).length, 1);
    assert.ok((await client.ttl(`web:${id}`)) > 50);
    web.closeAllConnections();
    web.close();
    client.destroy();
  },

  async "socket.io: the adapter on channels"(client) {
    const { createAdapter } = require("@socket.io/redis-adapter");
    const opened = [];
    const open = () => opened[opened.push(connect()) - 1];
    try {
      await socketsMeet(() => createAdapter(open(), open()), client);
    } finally {
      opened.forEach((one) => one.disconnect());
    }
  },

  async "socket.io: the adapter on streams"(client) {
    const { createAdapter } = require("@socket.io/redis-streams-adapter");
    const opened = [];
    const open = () => opened[opened.push(connect()) - 1];
    try {
      await socketsMeet(() => createAdapter(open(), { blockTimeInMs: 100 }), client);
    } finally {
      opened.forEach((one) => one.disconnect());
    }
  },
};

runAll(tests, async (test) => {
  const client = connect();
  client.on("error", () => {});
  try {
    await client.flushall();
    await test(client);
  } finally {
    client.disconnect();
  }
});
