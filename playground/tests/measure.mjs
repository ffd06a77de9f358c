// CPU time of a run of a resolved scenario on standard input: node measure.mjs ENGINE.wasm
import { readFileSync } from 'node:fs';
import { Engine } from '../page/engine.js';

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const begun = cpu();
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const resolved = readFileSync(0, 'utf8');
const times = [];
let engine;
let answer;
for (let repeat = 0; repeat < 3; repeat++) {
  engine ??= await Engine.start(module);
  const before = repeat ? cpu() : begun;
  answer = engine.ask({ do: 'run', resolved, seed: '1' });
  times.push(cpu() - before);
}
console.log(JSON.stringify({
  best_s: Math.min(...times.slice(1)),
  first_s: times[0],
  memory_bytes: engine.exports.memory.buffer.byteLength,
  digest: answer.ok.summary.digest,
}));
