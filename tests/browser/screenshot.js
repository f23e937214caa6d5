// The pictures of the page in README.md: node screenshot.js FOLDER (`make screenshot`).
import {join} from 'node:path';
import {open, pageTest} from './harness.js';

const FOLDER = process.argv[2];
// What takes its time stands under Details, which are closed: durations differ each time.
const SETTINGS = {viewport: {width: 1200, height: 700}, colorScheme: 'light'};

// `pointer`: where the mouse rests, as parts of the drawing's width and height.
const PICTURES = [
    {
        file: 'page.png',
        address: '?scheme=sinusoidal&length=256&dim=128&preset=marian',
        drawing: 'canvas.plot',
        pointer: [1 / 3, 1 / 2],
        told: 'wavelength',
    },
    {
        file: 'compare.png',
        address:
            '?scheme=rope&length=256&dim=64&right.scheme=rope&right.length=256&right.dim=64' +
            '&right.rope_type=ntk&right.factor=4',
        drawing: 'canvas.plot',
        pointer: [0.4, 0.4],
        told: 'B ',
    },
    {
        file: 'decay.png',
        address:
            '?scheme=sinusoidal&length=512&dim=128&view=distances&view.distances.metric=dot' +
            '&view.distances.positions=0,256',
        drawing: '#view svg.chart',
        pointer: [0.55, 0.5],
        told: 'position',
    },
];

for (const {file, address, drawing, pointer, told} of PICTURES)
    pageTest(
        `a picture of the page is written to ${join(FOLDER, file)}`,
        SETTINGS,
        async (page) => {
            await open(page, address);
            const box = await page.locator(drawing).first().boundingBox();
            await page.mouse.move(
                box.x + box.width * pointer[0],
                box.y + box.height * pointer[1],
            );
            await page.waitForFunction(
                (text) => document.querySelector('#readout').textContent.includes(text),
                told,
            );
            await page.screenshot({path: join(FOLDER, file)});
        },
    );
