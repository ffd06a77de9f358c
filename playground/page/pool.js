// Workers with an engine each. A request is a run or any other question; a stop ends the workers.

/** A worker that answers one request after another. */
export class Desk {
  constructor(module) {
    this.module = module;
    this.waiting = new Map();
    this.next = 0;
    this.open();
  }

  open() {
    this.worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event.message || 'the worker ended');
    this.worker.postMessage({ module: this.module });
  }

  receive({ id, answer, panic, progress }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    if (progress) {
      waiting.progress?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (panic !== undefined) waiting.resolve(crash(panic));
    else waiting.resolve(answer);
  }

  fail(message) {
    for (const { resolve } of this.waiting.values()) resolve(crash(message));
    this.waiting.clear();
    this.worker.terminate();
    this.open();
  }

  /** The answer `{ok}` or `{error, diagnostics}`. */
  ask(request, progress) {
    return new Promise((resolve) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, progress });
      this.worker.postMessage({ id, request });
    });
  }

  close() {
    this.worker.terminate();
    const stopped = { error: { code: 'W006', message: 'the run was stopped' }, diagnostics: [] };
    for (const { resolve } of this.waiting.values()) resolve(stopped);
    this.waiting.clear();
  }
}

function crash(text) {
  const memory = /memory|allocat|out of bounds|unreachable/i.test(text);
  const help = memory
    ? 'the tab may be out of memory: make the network or the duration smaller'
    : 'this is a defect of the simulator: please report the scenario with this text';
  return { error: { code: 'W007', message: `the simulator stopped: ${text}`, help }, diagnostics: [] };
}

/**
 * Carries out runs on as many workers as the machine has cores.
 * @param {(index: number, answer: object) => void} done called as each run ends
 * @param {(index: number, progress: object) => void} progress
 */
export class Crew {
  constructor(module, requests, done, progress) {
    const cores = navigator.hardwareConcurrency || 2;
    this.desks = Array.from({ length: Math.min(cores, requests.length) }, () => new Desk(module));
    this.stopped = false;
    let next = 0;
    const work = async (desk) => {
      while (next < requests.length && !this.stopped) {
        const index = next++;
        const answer = await desk.ask(requests[index], (now) => progress(index, now));
        if (!this.stopped) done(index, answer);
      }
      desk.close();
    };
    this.finished = Promise.all(this.desks.map(work));
  }

  stop() {
    this.stopped = true;
    for (const desk of this.desks) desk.close();
  }
}
