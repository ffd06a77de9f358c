// Answers requests of standard input, one JSON text a line: node ask.mjs ENGINE.wasm
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Engine } from '../page/engine.js';

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
let engine = await Engine.start(module);
for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(engine.ask(JSON.parse(line))));
  } catch (error) {
    console.log(JSON.stringify({ error: { code: 'panic', message: error.message } }));
    engine = await Engine.start(module);
  }
}
