// The simulator's WebAssembly module: a request in, an answer out. Runs in a page, in a worker and
// in Node.

/** What a call of the engine throws after a panic; the engine is then of no further use. */
export class Panic extends Error {}

export class Engine {
  /**
   * @param {WebAssembly.Module} module the compiled module
   * @param {(now: number, duration: number, events: number) => boolean} progress called during a
   *   run with simulated seconds, the duration and the number of events; `false` ends the run
   */
  static async start(module, progress = () => true) {
    const engine = new Engine();
    const imports = {
      page: {
        progress: (now, duration, events) => (progress(now, duration, events) ? 1 : 0),
        panicked: (at, length) => {
          engine.lastWords = engine.text(at, length);
        },
      },
    };
    engine.exports = (await WebAssembly.instantiate(module, imports)).exports;
    return engine;
  }

  text(at, length) {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  /** The answer to a request: `{ok}` or `{error, diagnostics}`. */
  ask(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    try {
      const at = this.exports.take(bytes.length);
      new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      const length = this.exports.ask();
      const answer = this.text(this.exports.at(), length);
      this.exports.free();
      return JSON.parse(answer);
    } catch (error) {
      throw new Panic(this.lastWords ?? String(error));
    }
  }
}
