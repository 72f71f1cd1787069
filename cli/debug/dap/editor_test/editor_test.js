// Drives the debugger by a client that is not ours, as an editor does.
//
//   node editor_test.js WARPCHECK REPOSITORY     NODE_PATH: where ci/setup put the client
'use strict';
const assert = require('assert');
const child_process = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const {DebugClient} = require('@vscode/debugadapter-testsupport');

const [warpcheck, repository] = process.argv.slice(2);
const kCase = path.join(repository, 'fuzz/cases/scan_hillis_steele_published/cc66.case');
const kSource = path.join(repository, 'kernels/specimens/scan_hillis_steele.cu');
const kLine = 14; // if (t >= distance && t < n) share[t] += share[t - distance];
const kTimeoutMs = 60000;

// Counts the requests of a client.
function counted(client) {
  client.defaultTimeout = kTimeoutMs;
  client.requests = 0;
  const send = client.send.bind(client);
  client.send = (...message) => {
    ++client.requests;
    return send(...message);
  };
  return client;
}

async function overStdio() {
  // The client has one word for the arguments; a shell splits it.
  const client = new DebugClient(warpcheck, 'debug --dap', 'warpcheck', {shell: true}, true);
  await client.start();
  return counted(client);
}

// Starts the program at a free port; `ended` is its exit status.
async function server(...words) {
  const program = child_process.spawn(warpcheck, ['debug', '--port', '0', ...words]);
  const ended = new Promise(resolve => program.on('exit', resolve));
  let text = '';
  for await (const chunk of program.stdout) {
    text += chunk;
    const port = text.match(/^waiting for a client at 127\.0\.0\.1:(\d+)\n/);
    if (port) return {program, ended, port: Number(port[1])};
  }
  throw new Error(`no port in: ${text}`);
}

// The message of a request that is refused.
async function refusal(request) {
  try {
    await request;
  } catch (error) {
    return error.message;
  }
  throw new Error('expected an error');
}

// A process that has ended and that nobody has asked for is not alive.
function isAlive(pid) {
  try {
    return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

// The processes below one, at any depth.
function descendants(pid) {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = fs.readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  return children.flatMap(child => [child, ...descendants(child)]);
}

// Performs a request that makes the debuggee run, and returns the body of its stop.
async function stopAfter(client, request) {
  const stopped = client.waitForEvent('stopped');
  await request;
  return (await stopped).body;
}

async function launched(client, launch) {
  await client.initializeRequest();
  await client.launchRequest(launch);
}

async function topFrame(client, threadId) {
  return (await client.stackTraceRequest({threadId})).body.stackFrames[0];
}

async function valueOf(client, expression, frameId) {
  return (await client.evaluateRequest({expression, frameId, context: 'watch'})).body.result;
}

const tests = {
  // Thread 1 has written share[1] in round 1, and thread 2 has not yet read it.
  async 'from the report to its cause in ten requests'() {
    const client = await overStdio();
    await launched(client, {case: kCase});
    await client.setExceptionBreakpointsRequest({filters: ['data-race']});
    const found = await stopAfter(client, client.configurationDoneRequest());
    assert.equal(found.reason, 'exception');
    assert.match(found.description, /^data-race on shared memory share\[1\]/);
    const {targets} = (await client.customRequest('gotoTargets', {
      source: {path: kSource}, line: kLine})).body;
    assert.match(targets[0].label, /\(1\) write by block \(0,0,0\) thread \(1,0,0\)$/);
    const writing = await stopAfter(client, client.gotoRequest({
      threadId: found.threadId, targetId: targets[0].id}));
    const {threads} = (await client.threadsRequest()).body;
    assert.equal(threads[0].id, writing.threadId);
    assert.equal(threads[0].name, 'block (0,0,0) thread (1,0,0), active');
    const other = threads.find(thread => thread.name.startsWith('block (0,0,0) thread (2,0,0)'));
    assert.equal(other.name, 'block (0,0,0) thread (2,0,0), at scan_hillis_steele.cu:14');
    assert.equal(await valueOf(client, 'share[1]'), '0');
    assert.equal(await valueOf(client, '%r18'), '1');
    assert.ok(client.requests <= 10, `${client.requests} requests`);
    await client.stop();
  },

  async 'breakpoint, condition, step, variables, data breakpoint, and back, over TCP'() {
    const {port, ended} = await server(kCase);
    const client = counted(new DebugClient('', '', 'warpcheck'));
    await client.start(port);
    await launched(client, {build: 'unoptimized'});
    const {breakpoints} = (await client.setBreakpointsRequest({
      source: {path: kSource}, breakpoints: [{line: kLine, condition: 't == 2'}]})).body;
    assert.equal(breakpoints[0].verified, true);
    assert.equal(breakpoints[0].line, kLine);
    const hit = await stopAfter(client, client.configurationDoneRequest());
    assert.equal(hit.reason, 'breakpoint');
    assert.deepEqual(hit.hitBreakpointIds, [breakpoints[0].id]);
    let frame = await topFrame(client, hit.threadId);
    assert.equal(frame.line, kLine);
    assert.equal(fs.realpathSync(frame.source.path), fs.realpathSync(kSource));
    assert.equal(await valueOf(client, 't', frame.id), '2');
    assert.equal(await valueOf(client, 'distance', frame.id), '1');

    const {scopes} = (await client.scopesRequest({frameId: frame.id})).body;
    const {variables} = (await client.variablesRequest({
      variablesReference: scopes[0].variablesReference})).body;
    assert.equal(variables.find(each => each.name === 'distance').value, '1');
    const lanes = scopes.find(each => each.name === 'Lanes');
    const rows = (await client.variablesRequest({
      variablesReference: lanes.variablesReference})).body.variables;
    assert.match(rows.find(each => each.name === 't').value, /2: 2/);

    const info = (await client.dataBreakpointInfoRequest({
      name: 'share[2]', frameId: frame.id})).body;
    const watched = (await client.setDataBreakpointsRequest({
      breakpoints: [{dataId: info.dataId, accessType: 'write'}]})).body.breakpoints;
    assert.equal(watched[0].verified, true);
    await client.setBreakpointsRequest({source: {path: kSource}, breakpoints: []});
    const written = await stopAfter(client, client.reverseContinueRequest({
      threadId: hit.threadId}));
    assert.equal(written.reason, 'data breakpoint');
    assert.match(written.description,
        /thread \(2,0,0\) writes share\[2\]: (<not written>|-?\d+) becomes -?\d+$/);
    frame = await topFrame(client, written.threadId);
    assert.ok(frame.line < kLine, `line ${frame.line}`);

    const next = await stopAfter(client, client.nextRequest({threadId: written.threadId}));
    assert.equal(next.reason, 'step');
    assert.notEqual((await topFrame(client, next.threadId)).line, frame.line);
    const back = await stopAfter(client, client.stepBackRequest({threadId: next.threadId}));
    assert.equal((await topFrame(client, back.threadId)).line, frame.line);
    await client.disconnectRequest();
    assert.equal(await ended, 0);
  },

  async 'a configuration names what the command line names'() {
    const text = child_process.execFileSync(
        warpcheck, ['debug', '--configure', 'nvim', '--', './saxpy', '-n', '1000']).toString();
    assert.match(text, /program = ".*\/saxpy",\n    args = { "-n", "1000" },\n/);
  },

  async 'what cannot be launched is said'() {
    const client = await overStdio();
    await client.initializeRequest();
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'editor-test-'));
    const damaged = path.join(directory, 'damaged.case');
    fs.writeFileSync(damaged, '{"warpcheck_case": 1');
    assert.match(await refusal(client.launchRequest({})), /expected `case`, a case file/);
    assert.match(await refusal(client.launchRequest({case: damaged})), /damaged\.case/);
    assert.match(await refusal(client.launchRequest({case: '/no/such.case'})), /no\/such\.case/);
    assert.match(await refusal(client.launchRequest({program: '/no/such'})), /no\/such/);
    assert.match(await refusal(client.threadsRequest()), /send `launch` first/);
    fs.rmSync(directory, {recursive: true});
    await client.stop();
  },

  async 'a damaged message is answered, and the next one performed'() {
    const {port, ended} = await server();
    const socket = net.connect(port, '127.0.0.1');
    const text = '{"seq":2,"type":"request","command":"initialize"}';
    socket.write('Content-Length: 5\r\n\r\n{"no"');
    socket.write(`Content-Length: ${text.length}\r\n\r\n${text}`);
    let received = '';
    for await (const chunk of socket) {
      received += chunk;
      if (received.includes('supportsStepBack')) break;
    }
    assert.match(received, /"success":false,"message":"a message: expected JSON/);
    assert.equal(await ended, 0);
  },

  async 'a client that disappears ends the debuggee'() {
    const {program, port, ended} = await server(kCase);
    const client = counted(new DebugClient('', '', 'warpcheck'));
    await client.start(port);
    await launched(client, {stopOnEntry: true});
    const entry = await stopAfter(client, client.configurationDoneRequest());
    assert.equal(entry.reason, 'entry');
    const processes = descendants(program.pid);
    assert.notEqual(processes.length, 0);
    client.stopAdapter();
    assert.equal(await ended, 0);
    // They end by themselves when nobody is connected to them.
    while (processes.some(isAlive)) await new Promise(resolve => setTimeout(resolve, 10));
  },
};

async function main() {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok: ${name}`);
    } catch (error) {
      console.log(`FAILED: ${name}\n${error.stack}`);
      process.exitCode = 1;
    }
  }
  process.exit();
}

main();
