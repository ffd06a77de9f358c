// Uses the page in headless Chromium: node browser.mjs FOLDER [PICTURES]
// FOLDER is the built playground; with PICTURES, screenshots go there. A failed check ends with 1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const folder = process.argv[2];
const pictures = process.argv[3];

const server = createServer((request, response) => {
  const path = normalize(request.url.replace(/[?#].*/, '')).replace(/^\/+/, '') || 'index.html';
  try {
    const bytes = readFileSync(join(folder, path));
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
const HOST = '127.0.0.1';
await new Promise((resolve) => server.listen(0, HOST, resolve));
const origin = `http://${HOST}:${server.address().port}/`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS });

/** A module with the exports of the engine, whose `ask` is `unreachable`. */
const TRAP = [
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
  ...[0x01, 0x0d, 0x03, 0x60, 0x01, 0x7f, 0x01, 0x7f, 0x60, 0x00, 0x01, 0x7f, 0x60, 0x00, 0x00], // types
  ...[0x03, 0x05, 0x04, 0x00, 0x01, 0x01, 0x02, 0x05, 0x03, 0x01, 0x00, 0x01], // functions, memory
  ...[0x07, 0x23, 0x05], ...named('memory', 0x02, 0), ...named('take', 0, 0), ...named('ask', 0, 1), ...named('at', 0, 2), ...named('free', 0, 3),
  ...[0x0a, 0x12, 0x04, 0x04, 0x00, 0x41, 0x00, 0x0b, 0x03, 0x00, 0x00, 0x0b, 0x04, 0x00, 0x41, 0x00, 0x0b, 0x02, 0x00, 0x0b], // code
];

function named(name, kind, index) {
  return [name.length, ...Buffer.from(name), kind, index];
}

const SMALL = `duration = "20 s"
topology = { kind = "chain", nodes = 3, link = { rate = "10 Mbit/s", delay = "5 ms" } }
flow = [{ kind = "transfer", from = "enb1", to = "enb3", size = "2 MB" }]
`;
const SWEPT = `${SMALL}
[sweep]
"tcp.congestion_control" = ["cubic", "reno"]
seeds = 3
`;

/** A new page in which every message of the console is a failure. */
async function opened(fragment = '', options = {}, name = 'index.html') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.messages = [];
  page.on('console', (message) => page.messages.push(message.text()));
  page.on('pageerror', (error) => page.messages.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) page.messages.push(`loaded ${request.url()}`);
  });
  await page.goto(origin + name + fragment);
  if (name === 'index.html') await page.waitForSelector('#run:not([disabled])');
  return page;
}

async function write(page, text) {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

async function closed(page) {
  assert.deepEqual(page.messages, [], 'the console is empty and nothing is loaded from elsewhere');
  await page.context().close();
}

const checks = {
  async 'a run shows its digest, charts and map'() {
    const page = await opened();
    await write(page, SMALL);
    await page.click('#run');
    await page.waitForSelector('.uplot');
    assert.match(await page.textContent('.digest'), /^[0-9a-f]{16}$/);
    assert.equal(await page.locator('svg.map circle').count(), 3);
    for (const button of await page.getByRole('button', { name: 'Save as SVG' }).all()) {
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
      assert.match(readFileSync(await download.path(), 'utf8'), /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      if (pictures) await download.saveAs(join(pictures, download.suggestedFilename()));
    }
    await closed(page);
  },

  async 'the time from the click to the first chart of the demo is told'() {
    const page = await opened();
    const text = await page.evaluate(() => fetch('examples.json').then((answer) => answer.json()).then((list) => list[0].text));
    await write(page, text.replace('seeds = 5', 'seeds = 1'));
    const begun = Date.now();
    await page.click('#run');
    await page.waitForSelector('.uplot');
    console.log(`  from click to first chart: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    await closed(page);
  },

  async 'a sweep fills its table'() {
    const page = await opened();
    await write(page, SWEPT);
    await page.click('#run');
    await page.waitForFunction(() => /^6 runs in/.test(document.getElementById('state').textContent));
    assert.equal(await page.locator('#cells tbody tr').count(), 2);
    assert.match(await page.textContent('#cells tbody tr'), /3 of 3/);
    // cubic and reno fill this link alike: the verdict is one of three words.
    assert.match(await page.textContent('#cells tbody tr >> nth=0'), /best/);
    assert.match(await page.textContent('#cells tbody tr >> nth=1'), /worse|equal|undecided/);
    await page.getByRole('button', { name: 'Total goodput' }).click();
    await page.waitForSelector('[aria-sort=descending]');
    await page.getByRole('button', { name: 'Beside another run' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.digest').length === 2);
    await closed(page);
  },

  async 'a run opened before the others have ended can be seen beside one that ends later'() {
    const page = await opened();
    await write(page, SWEPT.replace('["cubic", "reno"]', '["cubic", "reno", "bbr", "vegas", "htcp", "hybla"]').replace('2 MB', '20 MB'));
    await page.click('#run');
    const button = page.getByRole('button', { name: 'Beside another run' });
    await button.waitFor();
    await page.waitForFunction(() => /runs in/.test(document.getElementById('state').textContent), null, { timeout: 120000 });
    await button.click();
    await page.waitForFunction(() => document.querySelectorAll('.digest').length === 2);
    if (pictures) await page.screenshot({ path: join(pictures, 'pair.png'), fullPage: true });
    await closed(page);
  },

  async 'a stop ends the runs and the page goes on'() {
    const page = await opened();
    await write(page, SMALL.replace('"20 s"', '"3600 s"').replace('2 MB', '2 GB'));
    await page.click('#run');
    await page.waitForFunction(() => document.getElementById('progress').value > 0);
    await page.click('#stop');
    assert.match(await page.textContent('#state'), /^Stopped/);
    await write(page, SMALL);
    await page.click('#run');
    await page.waitForSelector('.uplot');
    await closed(page);
  },

  async 'an error is marked at its place'() {
    const page = await opened();
    await write(page, SMALL.replace('duration', 'duraton'));
    await page.waitForSelector('#problems li.error');
    assert.match(await page.textContent('#problems'), /S010 line 1/);
    await page.waitForSelector('.cm-lintRange-error');
    await page.click('text=What S010 means');
    await page.waitForFunction(() => /Every key is checked/.test(document.getElementById('problems').textContent));
    await page.click('#run');
    await page.waitForFunction(() => /S01/.test(document.getElementById('state').textContent));
    await closed(page);
  },

  async 'a link opens the same experiment, and runs nothing by itself'() {
    const page = await opened();
    await write(page, SMALL);
    await page.click('#link');
    await page.waitForFunction(() => location.hash.startsWith('#v='));
    const { hash } = new URL(page.url());
    await closed(page);
    const again = await opened(hash);
    assert.match(await again.textContent('.cm-content'), /2 MB/);
    assert.equal(await again.textContent('#cells'), '');
    await closed(again);
    const older = await opened(hash.replace(/v=[^&]*/, 'v=1'));
    assert.match(await older.textContent('#notice'), /model version 1/);
    await closed(older);
  },

  async 'a broken or hostile link says so and does nothing'() {
    for (const hash of ['#v=7&s=AAAA', '#s=%3Cscript%3E', '#example=%3Cimg%20src=x%20onerror=alert(1)%3E']) {
      const page = await opened(hash);
      await page.waitForSelector('#notice:not([hidden])');
      assert.equal(await page.locator('img, script:not([src])').count(), 0);
      await closed(page);
    }
  },

  async 'a name with markup stays text'() {
    const page = await opened();
    await write(page, `name = "<img src=x onerror=alert(1)>"\n${SMALL}`);
    await page.click('#run');
    await page.waitForSelector('.uplot, #problems li');
    assert.equal(await page.locator('img').count(), 0);
    await closed(page);
  },

  async 'a dropped CSV is a file of the scenario'() {
    const page = await opened();
    await write(page, SMALL.replace(/topology = .*/, 'topology = { kind = "sites", sites = "mine.csv", connect = "nearest 1", link = { rate = "10 Mbit/s" } }'));
    const drop = await page.evaluateHandle(() => {
      const list = new DataTransfer();
      list.items.add(new File(['id,x,y\nenb1,0,0\nenb2,100,0\nenb3,200,0\n'], 'mine.csv', { type: 'text/csv' }));
      return list;
    });
    await page.dispatchEvent('main', 'drop', { dataTransfer: drop });
    await page.waitForFunction(() => /mine.csv/.test(document.getElementById('attached').textContent));
    await closed(page);
  },

  async 'a dropped CSV of sites or of rates asks a first question that runs'() {
    const drop = (page, name, text) => page.evaluateHandle(([file, content]) => {
      const list = new DataTransfer();
      list.items.add(new File([content], file, { type: 'text/csv' }));
      return list;
    }, [name, text]).then((dataTransfer) => page.dispatchEvent('main', 'drop', { dataTransfer }));
    const places = Array.from({ length: 8 }, (_, index) => `m${index},${50 + 0.01 * index},${8 + 0.013 * (index % 3)}`);
    for (const [name, text] of [
      ['masts.csv', `id,latitude_deg,longitude_deg\n${places.join('\n')}\n`],
      ['link.csv', `time_s,rate_bps\n${Array.from({ length: 60 }, (_, second) => `${second},${1e7 + 2e5 * second}`).join('\n')}\n`],
    ]) {
      const page = await opened();
      await drop(page, name, text);
      await page.waitForFunction((file) => document.querySelector('#editor').shadowRoot.textContent.includes(file), name);
      await page.click('#run');
      await page.waitForFunction(() => /runs in/.test(document.getElementById('state').textContent), null, { timeout: 120000 });
      assert.doesNotMatch(await page.textContent('#state'), /failed/);
      await closed(page);
    }
  },

  async 'what is too large for a tab is refused before it runs'() {
    const page = await opened();
    await write(page, SMALL.replace('nodes = 3', 'nodes = 900000').replace('to = "enb3"', 'to = "enb900000"'));
    await page.click('#run');
    await page.waitForFunction(() => /W003|S0/.test(document.getElementById('state').textContent), null, { timeout: 120000 });
    await closed(page);
  },

  async 'after a panic its text is told and the worker goes on'() {
    const page = await opened();
    const answers = await page.evaluate(async (bytes) => {
      const { Desk } = await import('./pool.js');
      // A module of which `ask` traps, and then the engine itself, on the same desk.
      const desk = new Desk(await WebAssembly.compile(new Uint8Array(bytes)));
      const crashed = [await desk.ask({ do: 'about' }), await desk.ask({ do: 'about' })];
      desk.worker.postMessage({ module: await WebAssembly.compile(await (await fetch('engine.wasm')).arrayBuffer()) });
      const after = await desk.ask({ do: 'about' });
      desk.close();
      return [...crashed, after];
    }, TRAP);
    for (const crashed of answers.slice(0, 2)) {
      assert.equal(crashed.error.code, 'W007');
      assert.match(crashed.error.message, /unreachable/);
      assert.ok(crashed.error.help);
    }
    assert.ok(answers[2].ok.version);
    await closed(page);
  },

  async 'the keyboard suffices, and nothing serious is found by axe'() {
    const page = await opened();
    await page.focus('#run');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.uplot');
    await page.focus('#stop');
    await page.keyboard.press('Enter');
    for (const scheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      // The text in CodeMirror's scroller takes the focus; axe does not see that it is editable.
      const serious = violations.filter((one) => ['serious', 'critical'].includes(one.impact))
        .filter((one) => !one.nodes.every((node) => node.html.includes('cm-scroller')));
      const told = serious.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
      assert.deepEqual(told, [], scheme);
    }
    await page.context().close();
  },
};

/** The readings of an explanation at positions of its sliders. */
async function readings(page, positions) {
  for (const [name, value] of Object.entries(positions)) {
    await page.$eval(`#${name}`, (slider, at) => {
      slider.value = at;
      slider.dispatchEvent(new Event('input'));
    }, value);
  }
  await page.waitForTimeout(400);
  await page.waitForFunction(() => / in .* s, model/.test(document.getElementById('state').textContent), null, { timeout: 120000 });
  const rows = await page.$$eval('.readings tr', (list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
  return Object.fromEntries(rows);
}

const numbers = (text) => [...text.replaceAll(',', '').matchAll(/\d+(?:\.\d+)?/g)].map(([number]) => Number(number));

// What the explanations say of the ends of their sliders.
const explanations = {
  async buffer(page) {
    const at = async (rtt, buffer, control) => {
      const read = await readings(page, { rtt, buffer, control });
      return { busy: numbers(read['The link is busy'])[0], rtt: numbers(read['Mean RTT'])[0], drops: numbers(read['Packets dropped'])[0] };
    };
    const few = [await at(4, 0, 0), await at(4, 0, 1), await at(4, 0, 2)];
    for (const one of few) assert.ok(one.busy < 20, 'less than a fifth');
    const bbr = await at(4, 0, 3);
    assert.ok(bbr.busy > 80 && bbr.drops > 10 * few[1].drops, 'BBR keeps the link busy and drops many more');
    assert.ok((await at(2, 4, 0)).busy > 97, 'busy nearly all the time');
    for (const control of [0, 1]) assert.ok((await at(0, 7, control)).rtt > 100, 'ten times the empty path');
    for (const control of [2, 3]) assert.ok((await at(0, 7, control)).rtt < 20, 'within twice the empty path');
  },
  async reordering(page) {
    const at = async (ues, rate, routing) => {
      const read = await readings(page, { ues, rate, routing });
      return Object.fromEntries(Object.entries(read).map(([name, text]) => [name, numbers(text)]));
    };
    const usual = await at(2, 2, 0);
    for (const name of ['Packets sent again, a flow', 'of these in vain', 'Mean finish time']) assert.ok(usual[name][0] > usual[name][1], name);
    for (const name of ['Mean window', 'Packets that arrive reordered']) assert.ok(usual[name][0] < usual[name][1], name);
    const alone = await at(0, 2, 0);
    assert.deepEqual(alone['Packets that arrive reordered'], [0, 0]);
    assert.equal(alone['Mean finish time'][0], alone['Mean finish time'][1]);
    const many = await at(4, 0, 0);
    assert.ok(many['of these in vain'][1] > many['Packets sent again, a flow'][1] / 2, 'most in vain even with RACK');
    const gain = 1 - many['Mean finish time'][1] / many['Mean finish time'][0];
    assert.ok(gain > 0.05 && gain < 0.15, 'about a tenth');
    for (const [ues, rate] of [[2, 2], [4, 0], [4, 3]]) {
      const flow = await at(ues, rate, 1);
      assert.deepEqual(flow['Packets that arrive reordered'], [0, 0]);
      assert.ok(flow['Mean finish time'][0] / flow['Mean finish time'][1] < 1.06, 'hardly matters');
    }
  },
  async grid(page) {
    const at = async (ues, queue, control) => {
      const read = await readings(page, { ues, queue, control });
      const of = (name) => numbers(read[name]);
      const told = (name) => ({ finish: of(name)[0], reordered: of(name).at(-1) });
      return [told('BP-MR per packet'), told('BP-MR per flow'), told('OLSR')];
    };
    const all = await at(4, 3, 0);
    for (const ues of [0, 1, 2, 3]) {
      const [packet, flow, olsr] = await at(ues, 3, 0);
      assert.ok(packet.finish < flow.finish && flow.finish < olsr.finish, 'the order');
      assert.ok(packet.reordered > 25 && packet.reordered < 50, 'a quarter to a half');
    }
    const small = await at(4, 0, 0);
    small.forEach((one, routing) => assert.ok(one.finish > 1.5 * all[routing].finish, 'half as long again'));
    const large = await at(4, 4, 0);
    const gains = large.map((one, routing) => 1 - one.finish / all[routing].finish);
    for (const gain of gains.slice(1)) assert.ok(gain > 0.12 && gain < 0.18, 'about a seventh less');
    assert.ok(gains[0] > 0.3 * gains[1] && gains[0] < 0.7 * gains[1], 'per packet gains half as much');
    const bbr = await at(4, 3, 3);
    assert.ok(bbr[2].finish < 2 * bbr[0].finish && all[2].finish > 2 * all[0].finish, 'BBR narrows the gap');
  },
};
for (const [topic, check] of Object.entries(explanations)) {
  checks[`the text of the explanation "${topic}" is true at the ends`] = async () => {
    const page = await opened('', {}, `${topic}.html`);
    await check(page);
    if (pictures) await page.screenshot({ path: join(pictures, `${topic}.png`), fullPage: true });
    await closed(page);
  };
}

async function photographs() {
  for (const [name, width, colorScheme] of [['desktop', 1280, 'light'], ['dark', 1280, 'dark'], ['phone', 390, 'light']]) {
    const page = await opened('', { viewport: { width, height: 844 }, colorScheme });
    await page.click('#run');
    await page.waitForSelector('.uplot');
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, `${name}: nothing is wider than the page`);
    await page.context().close();
  }
}

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
if (pictures) await photographs();
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
