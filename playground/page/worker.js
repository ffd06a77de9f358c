// One engine in a worker. Messages in: {module}, then {id, request}. Messages out: {id, answer},
// {id, panic} and, during a run, {id, progress: {now, duration, events}}.
import { Engine } from './engine.js';

/** Milliseconds between two reports of progress. */
const REPORT_EVERY = 100;

let module;
let engine;
let current;
let last = 0;

function progress(now, duration, events) {
  const time = performance.now();
  if (time - last >= REPORT_EVERY) {
    last = time;
    postMessage({ id: current, progress: { now, duration, events } });
  }
  return true;
}

let ready = Promise.resolve();

onmessage = (message) => {
  ready = ready.then(() => handle(message.data));
};

async function handle({ module: given, id, request }) {
  if (given) {
    module = given;
    return;
  }
  try {
    engine ??= await Engine.start(module, progress);
    current = id;
    postMessage({ id, answer: engine.ask(request) });
  } catch (error) {
    engine = undefined;
    postMessage({ id, panic: String(error.message ?? error) });
  }
}
