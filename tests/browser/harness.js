// One server and one browser for a file of tests; pages that fail on any console error, page error or
// violation of the page's policy.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {chromium} from 'playwright-core';

const SERVER = process.env.TEST_SERVER ?? 'build/posenc-server';
const SCREENSHOTS = process.env.SCREENSHOTS ?? 'build/screenshots';
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// {url, stop}: a server on a free port.
export async function startServer(...settings) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSENC_')));
  const server = spawn(resolve(SERVER), ['--port', '0', ...settings], {env: environment, stdio: ['ignore', 'pipe', 'pipe']});
  const url = await new Promise((found, failed) => {
    let said = '';
    const listen = (chunk) => {
      said += chunk;
      const at = /listening on (http:\S+)/.exec(said);
      if (at) found(at[1]);
    };
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    server.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
    server.on('error', failed);
  });
  const stop = () => new Promise((ended) => {
    server.removeAllListeners('exit');
    server.on('exit', ended);
    server.kill('SIGINT');
  });
  return {url, stop};
}

export async function startBrowser() {
  const folder = mkdtempSync(join(tmpdir(), 'posenc-browser-'));
  const context = await chromium.launchPersistentContext(folder, {executablePath: CHROMIUM, headless: true, chromiumSandbox: false, args: FLAGS, viewport: {width: 1280, height: 900}});
  const stop = async () => {
    await context.close();
    rmSync(folder, {recursive: true, force: true});
  };
  return {context, browser: context.browser(), stop};
}

// A page whose mistakes are collected; `expected` is a pattern of console errors that the test is about.
export async function openPage(context, {expected} = {}) {
  const page = await context.newPage();
  const mistakes = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected?.test(message.text())) mistakes.push(message.text());
  });
  page.on('pageerror', (error) => mistakes.push(String(error.stack ?? error)));
  page.on('requestfailed', (request) => {
    if (!/ERR_ABORTED/.test(request.failure().errorText)) mistakes.push(`${request.url()}: ${request.failure().errorText}`);
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) => console.error(`policy: ${violatedDirective} ${blockedURI}`));
  });
  const finish = async () => {
    await page.close();
    assert.deepEqual(mistakes, [], 'errors on the page');
  };
  return {page, mistakes, finish};
}

// Wait until what the address asks for has been loaded and drawn.
export async function drawn(page) {
  await page.waitForSelector('#view[data-drawn]', {timeout: 15000});
  await page.waitForFunction(() => !document.body.classList.contains('busy'), null, {timeout: 15000});
}

export async function screenshot(page, name) {
  mkdirSync(SCREENSHOTS, {recursive: true});
  await page.screenshot({path: join(SCREENSHOTS, `${name}.png`), fullPage: true});
}
