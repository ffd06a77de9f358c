// Uses the page of a report in headless Chromium: node report.mjs PAGE [PICTURES]
// PAGE is the report of report.toml; with PICTURES, screenshots go there. A failed check ends with 1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const [, , file, pictures] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS });

/** The report in a new page in which every message of the console is a failure, and every request but its own. */
async function opened(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.messages = [];
  page.on('console', (message) => page.messages.push(message.text()));
  page.on('pageerror', (error) => page.messages.push(error.message));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.messages.push(request.url());
  });
  await page.goto(`file://${resolve(file)}`);
  return page;
}

async function check(name, body, options) {
  const page = await opened(options);
  await body(page);
  assert.deepEqual(page.messages, [], name);
  if (pictures) await page.screenshot({ path: join(pictures, `report-${name.replace(/\W+/g, '-')}.png`) });
  await page.context().close();
  console.log(`ok: ${name}`);
}

const column = (page, table, index) => page.locator(`${table} tbody tr`).evaluateAll((rows, at) => rows.map((row) => row.cells[at].textContent), index);

await check('the contents lead to every section', async (page) => {
  const targets = await page.locator('nav.contents a').evaluateAll((links) => links.map((link) => link.hash));
  assert.ok(targets.length >= 6);
  for (const target of targets) assert.equal(await page.locator(target).count(), 1);
});

await check('a table sorts by a column, by value and not by text, and back', async (page) => {
  const table = 'table:has(tr[data-contender])';
  const before = await column(page, table, 2);
  const button = page.locator(`${table} th button`).nth(2);
  await button.click();
  const sorted = (await column(page, table, 2)).map((text) => parseFloat(text) * (/ ms/.test(text) ? 1e-3 : 1));
  assert.deepEqual(sorted, [...sorted].sort((a, b) => a - b));
  assert.equal(await page.locator(`${table} th[aria-sort=ascending]`).count(), 1);
  await button.click();
  await button.click();
  assert.deepEqual(await column(page, table, 2), before);
});

await check('the filter leaves one condition', async (page) => {
  const rows = page.locator('tr[data-condition]:visible');
  const all = await rows.count();
  await page.locator('.filter select').selectOption({ label: '4 UEs' });
  assert.equal(await rows.count(), all / 2);
  assert.ok(await page.locator('g.faint').count() > 0);
  await page.locator('.filter select').selectOption({ index: 0 });
  assert.equal(await rows.count(), all);
});

await check('pointing at a contender fades the others, a click keeps that', async (page) => {
  const row = page.locator('tr[data-contender="0"]').first();
  await row.hover();
  assert.ok(await page.locator('[data-contender="1"].faded').count() > 2);
  assert.equal(await page.locator('[data-contender="0"].faded').count(), 0);
  await row.click();
  await page.mouse.move(2, 2);
  assert.ok(await page.locator('[data-contender="1"].faded').count() > 2);
  await row.click();
  await page.mouse.move(2, 2);
  assert.equal(await page.locator('.faded').count(), 0);
});

await check('a point of a figure tells its numbers', async (page) => {
  const dot = page.locator('figure[id*=finish-time] g[data-tip]').nth(1);
  await dot.scrollIntoViewIfNeeded();
  // Scrolling hides the text; the pointer moves until that has ended.
  const box = await dot.boundingBox();
  for (let step = 0; step < 100 && !(await page.locator('.tip:visible').count()); step++) {
    await page.mouse.move(box.x + box.width / 2, box.y + (box.height * (step % 9 + 1)) / 11);
  }
  assert.match(await page.locator('.tip').textContent(), /mean .*s$/);
});

await check('the map tells of nodes and links, by mean and by busiest second', async (page) => {
  const text = page.locator('.map-view > p').last();
  const mean = await text.textContent();
  await page.getByLabel('Load').selectOption({ label: 'busiest second' });
  assert.notEqual(await text.textContent(), mean);
  assert.match(await page.locator('.map circle.node').first().getAttribute('data-tip'), /50\.60000°, 50\.80000°/);
  assert.ok(await page.locator('.graticule text').count() >= 4);
  assert.equal(await page.locator('.map .core').count(), 1);
  assert.match(await page.locator('.map').getAttribute('aria-label'), /6 nodes/);
});

await check('the replay shows the failure, plays, pauses and ends', async (page) => {
  const slider = page.getByLabel('Time of the replay');
  const at = async (share) => {
    const last = Number(await slider.getAttribute('max'));
    await slider.fill(String(Math.round(last * share)));
    return slider.getAttribute('aria-valuetext');
  };
  const texts = [];
  for (let share = 0; share <= 1; share += 0.05) texts.push(await at(share));
  assert.ok(texts.some((text) => /1 links down/.test(text)), texts.join('\n'));
  assert.ok(texts.some((text) => /flows under way/.test(text)));
  await at(0);
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(() => Number(document.querySelector('.replay input').value) > 1);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Whole run' }).click();
  assert.equal(await page.getByRole('button', { name: 'Play' }).count(), 1);
});

await check('what is over time has charts with values under the pointer', async (page) => {
  const chart = page.locator('figure[data-lines] .u-over').first();
  await chart.scrollIntoViewIfNeeded();
  await chart.hover();
  assert.match(await page.locator('figure[data-lines] .u-legend').first().textContent(), /\d/);
});

await check('files of figures can be kept', async (page) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('a[download$=".pdf"]').first().click()]);
  assert.match(download.suggestedFilename(), /\.pdf$/);
});

for (const [name, options] of [
  ['a phone', { viewport: { width: 390, height: 844 }, isMobile: true }],
  ['a dark screen', { colorScheme: 'dark' }],
]) {
  await check(`${name} shows it whole, and axe finds nothing serious`, async (page) => {
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    // The page allows no other script: axe is evaluated by the debugger.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
  }, options);
}

await check('without scripts everything else is there', async (page) => {
  assert.ok(await page.locator('figure svg').count() >= 5);
  assert.ok(await page.locator('table').count() >= 4);
}, { javaScriptEnabled: false });

await browser.close();
