// A scenario in the fragment of an address: the model version, and the scenario with its files as
// JSON, deflated, in base64url.

/** The longest fragment that a link carries; files beyond are attached by hand. */
export const MOST_CHARACTERS = 16000;
/** The largest content that a link may unpack to. */
const MOST_BYTES = 1 << 20;

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    length += value.length;
    if (length > most) throw new Error('the content of the link is too large');
    parts.push(value);
  }
}

/** The fragment of an experiment `{text, files, example}` with a model version. */
export async function packed(experiment, modelVersion) {
  const json = new TextEncoder().encode(JSON.stringify(experiment));
  const blob = await through(new CompressionStream('deflate-raw'), json);
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const base64 = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `#v=${encodeURIComponent(modelVersion)}&s=${base64}`;
}

/** The experiment of a fragment with its model version; null without one. Throws on bad content. */
export async function unpacked(fragment) {
  const values = new URLSearchParams(fragment.replace(/^#/, ''));
  if (values.has('example')) return { example: values.get('example') };
  const base64 = values.get('s');
  if (base64 === null) return null;
  if (!/^[A-Za-z0-9_-]*$/.test(base64)) throw new Error('the link has characters that do not belong there');
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const blob = await through(new DecompressionStream('deflate-raw'), bytes, MOST_BYTES);
  const experiment = JSON.parse(await blob.text());
  const files = experiment.files ?? {};
  const isText = (value) => typeof value === 'string';
  if (!isText(experiment.text) || typeof files !== 'object' || !Object.values(files).every(isText)) {
    throw new Error('the link holds no scenario');
  }
  return { text: experiment.text, files, version: values.get('v') };
}
