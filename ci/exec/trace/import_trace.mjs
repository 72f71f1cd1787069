// Reads a trace by the code that Chromium's own viewer reads it with (the Performance panel of its
// developer tools), and prints what that saw as JSON.
//
//   node import_trace.mjs MODULES TRACE     MODULES: where ci/setup put it
import fs from 'node:fs';
import path from 'node:path';
import url from 'node:url';

const [modules, trace] = process.argv.slice(2);
const complaints = [];
console.error = console.warn = (...words) => complaints.push(words.join(' '));

// The one class of a browser that it needs.
globalThis.DOMRect = class {
  static fromRect = rectangle => ({...rectangle});
};
const engine = path.join(modules, '@paulirish/trace_engine/models/trace/trace.js');
const {TraceModel} = await import(url.pathToFileURL(engine));
const model = TraceModel.Model.createWithAllHandlers();
await model.parse(JSON.parse(fs.readFileSync(trace, 'utf8')));
const {Flows, Meta, Renderer} = model.parsedTrace().data;

// Of each track its entries in the order shown; `depth` says how many it is drawn below.
const tracks = [];
for (const [pid, {threads}] of Renderer.processes) {
  for (const [tid, {name, entries}] of threads) {
    tracks.push({
      process: Meta.processNames.get(pid)?.args.name,
      name,
      entries: entries.map(entry => ({
        name: entry.name,
        category: entry.cat,
        begin: entry.ts,
        end: entry.ts + (entry.dur ?? 0),
        depth: Renderer.entryToNode.get(entry)?.depth ?? null,
      })),
    });
  }
}
const arrows = Flows.flows.map(flow => flow.map(({name, ts}) => ({name, at: ts})));
console.log(JSON.stringify({complaints, tracks, arrows}));
