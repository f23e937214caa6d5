// The picture of the page in README.md: node screenshot.js FILE (`make screenshot`).
import {open, pageTest} from './harness.js';

const FILE = process.argv[2];
const ADDRESS = '?scheme=sinusoidal&length=256&dim=128&preset=marian';
// The window ends below the value under the mouse: the next line has durations, which differ each time.
const SETTINGS = {viewport: {width: 1200, height: 758}, colorScheme: 'light'};

pageTest(`a picture of the page is written to ${FILE}`, SETTINGS, async (page) => {
  await open(page, ADDRESS);
  const box = await page.locator('canvas.plot').boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
  await page.waitForFunction(() => document.querySelector('#readout').textContent.includes('wavelength'));
  await page.screenshot({path: FILE});
});
