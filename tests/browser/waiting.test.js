// Long work: the bar moves before the first byte, by what the service says of its progress.
import assert from 'node:assert/strict';
import {open, pageTest, url} from './harness.js';

const LONG = '?scheme=floater&length=8192&dim=512&hidden=2048';
const share = (page) => page.evaluate(() => document.querySelector('#progress').value);

pageTest(
    'the bar moves while floater is computed, and Cancel ends it',
    {viewport: {width: 360, height: 740}},
    async (page) => {
        await page.goto(`${url}/${LONG}`);
        await page.waitForFunction(() =>
            /computed to \d+ %/.test(document.querySelector('#loaded').textContent),
        );
        const before = await share(page);
        await page.waitForFunction(
            (least) => document.querySelector('#progress').value > least,
            before,
        );
        assert.ok((await share(page)) < 1);
        await page.click('#cancel');
        await page.waitForSelector('#message.told');
    },
);

pageTest(
    'without such figures the bar moves without an end',
    {expected: /status of 404/},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        await page.route('**/metrics', (route) => route.fulfill({status: 404}));
        const asked = page.waitForRequest('**/metrics');
        await page.goto(`${url}/${LONG}`);
        await asked;
        assert.equal(await page.getAttribute('#progress', 'value'), null);
        await page.click('#cancel');
        await page.waitForSelector('#message.told');
    },
);
