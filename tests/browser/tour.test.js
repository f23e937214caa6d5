// The guided tour: eight steps with two or three sentences each, by buttons and keys, in the
// address.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {TOUR} from '../../server/visualiser/tour.js';
import {drawn, escape, eventually, findings, open, pageTest, screenshot} from './harness.js';

const viewOf = ({address}) => new URLSearchParams(address).get('view');
const step = (page, number) =>
    page.waitForFunction(
        (text) => document.querySelector('.tour-count')?.textContent === text,
        `Step ${number} of ${TOUR.length}`,
    );
const focused = (page) =>
    page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

// Wait for a step: its words, its view and its address.
async function at(page, number) {
    await step(page, number);
    await page.waitForSelector(`#view[data-drawn=${viewOf(TOUR[number - 1])}]`);
    await drawn(page);
    const given = new URL(page.url()).searchParams;
    assert.equal(given.get('tour'), String(number));
    for (const [name, value] of new URLSearchParams(TOUR[number - 1].address))
        assert.equal(given.get(name), value, `${name} of step ${number}`);
    assert.equal(await page.textContent('#tour-title'), TOUR[number - 1].title);
    assert.equal(await page.textContent('#tour p'), TOUR[number - 1].text);
}

test('every step has two or three sentences', () => {
    assert.equal(TOUR.length, 8);
    for (const {title, text} of TOUR)
        assert.match(String(text.match(/[.!?](?= [A-Z]|$)/g)?.length), /^[23]$/, title);
});

// What somebody who has never heard of positional encodings asks, and the words that answer:
// [the question, the step, the answer].
const QUESTIONS = [
    ['why are positions needed?', 1, /does not see their order/],
    ['what is a row?', 2, /Each row is the code of one position/],
    ['why fast and slow columns?', 3, /Fast columns.* tell neighbours apart.* slow ones.* far/],
    ['what is a colour of a similarity?', 4, /how alike they are/],
    ['what is a query, and a key?', 5, /query of a word, what it looks for.* key.* offers/],
    ['what does RoPE turn, and what does it keep?', 5, /in pairs and turns.* Lengths are kept/],
    ['what does ALiBi add?', 6, /add to each score.* slope times distance/],
    ['what is a head?', 6, /several attentions side by side, its heads/],
    ['what does a steep slope do?', 6, /slope is steep, little but its neighbours/],
    ['what happens beyond the training length?', 7, /has never met the distances/],
];

test('the tour answers what a beginner asks, and explains a word before it uses it', () => {
    for (const [question, number, answer] of QUESTIONS)
        assert.match(TOUR[number - 1].text, answer, question);
    for (const [word, number] of [
        [/\b(query|queries|keys?)\b/, 5],
        [/\bheads?\b/, 6],
    ])
        assert.equal(TOUR.findIndex(({text}) => word.test(text)) + 1, number, String(word));
});

pageTest(
    'the keyboard goes through the whole tour, from the first screen and back to it',
    {},
    async (page) => {
        await open(page);
        await page.focus('#tour-link');
        await page.keyboard.press('Enter');
        await at(page, 1);
        assert.equal(await focused(page), 'tour-title');
        assert.equal(await page.isDisabled('#tour button:text-is("Previous")'), true);
        assert.equal(await page.isVisible('#examples'), false);
        await page.keyboard.press('Tab');
        assert.equal(await focused(page), 'Next');
        for (let number = 2; number <= TOUR.length; number++) {
            await page.keyboard.press('Enter');
            await at(page, number);
            assert.equal(await focused(page), number < TOUR.length ? 'Next' : 'Finish');
        }
        await page.keyboard.press('Enter');
        await page.waitForSelector('#tour', {state: 'hidden'});
        assert.equal(await focused(page), 'tour-link');
        assert.doesNotMatch(page.url(), /tour=/);
    },
);

pageTest(
    'a step is a permalink; Previous, the history and Escape lead away from it',
    {},
    async (page) => {
        await open(page, '?tour=3');
        await at(page, 3);
        assert.notEqual(
            await focused(page),
            'tour-title',
            'the focus is not taken from who opens a link',
        );
        await page.click('#tour button:text-is("Previous")');
        await at(page, 2);
        await page.click('#tour button:text-is("Previous")');
        await at(page, 1);
        assert.equal(await focused(page), 'Next', 'Previous is off');
        await page.goBack();
        await at(page, 2);
        await page.fill('#left-length', '16'); // a reader tries things
        await drawn(page);
        assert.match(page.url(), /\?tour=2&.*length=16/);
        await page.reload();
        await drawn(page);
        await step(page, 2);
        assert.equal(await page.inputValue('#left-length'), '16');
        const high = (await page.locator('canvas.plot').boundingBox()).height;
        await page.focus('canvas.plot');
        await escape(page);
        await page.waitForSelector('#tour', {state: 'hidden'});
        assert.equal(await focused(page), 'tour-link');
        assert.match(page.url(), /length=16/, 'the picture stays');
        await drawn(page);
        await eventually(async () =>
            assert.ok(
                (await page.locator('canvas.plot').boundingBox()).height >= high,
                'the picture may grow',
            ),
        );
    },
);

pageTest(
    'Close ends the tour, and a step that does not exist begins none',
    {},
    async (page) => {
        await open(page, '?tour=6');
        await at(page, 6);
        await page.click('#tour button:text-is("Close")');
        await page.waitForSelector('#tour', {state: 'hidden'});
        await open(page, `?tour=${TOUR.length + 1}`);
        assert.equal(await page.isVisible('#tour'), false);
    },
);

pageTest(
    'the tour fits a phone, and axe finds nothing in it in both themes',
    {viewport: {width: 400, height: 800}, hasTouch: true, isMobile: true},
    async (page) => {
        for (const [colorScheme, number] of [
            ['light', 7],
            ['dark', 5],
        ]) {
            await page.emulateMedia({colorScheme});
            await open(page, `?tour=${number}`);
            await at(page, number);
            assert.deepEqual(await findings(page, '#tour'), [], colorScheme);
            assert.ok(
                await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                'too wide',
            );
            await screenshot(page, `tour-${colorScheme}-400`);
            const next = page.locator('#tour button:text-is("Next")');
            const box = await next.boundingBox();
            assert.ok(box.y + box.height <= 800, `Next is in sight: ${JSON.stringify(box)}`);
            await next.tap();
            await at(page, number + 1);
        }
    },
);

pageTest(
    'the tour goes by arrow keys, and on a phone its picture stays in sight',
    {viewport: {width: 360, height: 740}},
    async (page) => {
        await open(page, '?tour=4');
        for (const wanted of [5, 6, 7]) {
            await page.keyboard.press('ArrowRight');
            await page.waitForFunction(
                (number) => location.search.includes(`tour=${number}`),
                wanted,
            );
            await drawn(page);
            const seen = await page.evaluate(() => {
                const words = document.querySelector('#tour').getBoundingClientRect();
                const picture = document
                    .querySelector('#view :is(canvas, svg.chart)')
                    .getBoundingClientRect();
                return Math.min(picture.bottom, words.top) - picture.top;
            });
            assert.ok(seen > 80, `step ${wanted}: ${seen} pixels of the picture`);
        }
        await page.keyboard.press('ArrowLeft');
        await page.waitForFunction(() => location.search.includes('tour=6'));
    },
);
