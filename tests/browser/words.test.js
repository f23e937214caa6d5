// What the page says, in every view of every scheme: kinds of mistakes of sentences that are
// put together from names. WORDS=FILE writes all that was read, of every tensor, to a file.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {after} from 'node:test';
import {drawn, open, pageTest, schemes} from './harness.js';

// What no text may have.
const FAULTS = {
    'a doubled plural': /\b\w+[^aeious\W]ss\b(?<!\b(?:less|process|cross|across|pass|loss))/,
    'something is itself': /\b(\w+)s are \1s\b|\bcolumns columns\b|\bthe (\w+) over the \2\b/i,
    'a part of a circle, which nobody counts in': /% of a (circle|turn)/,
    'nothing as a value': /^none$|: none\b|\bno\/ne\b|\b(undefined|null|NaN)\b/,
    'one of several':
        /\b1 (rows|columns|pairs|lines|heads|positions|dimensions|keys|queries)\b/,
    'a name that code has':
        /\bqueries\+keys|\bdim\/|\*|\b[a-z]+_(height|width|length)\b|\bNs?\b/,
    'no space after a full stop': /[a-z]\.[A-Z]/,
    'two spaces, or one before a stop': / {2}| [.,;:](?= |$)/,
    'one of several, counted out':
        /\b(column|row|position|dimension|key|query|token|point|cell|head) \d+(, \d+)+/,
    'a singular before a range':
        /(?<!of the )\b(column|row|position|dimension|key|query|token|point|cell|axis) -?\d+ to /,
    'none or all as a share': /\b0 (of \d|ordered)|\b(\d+) of \2\b/,
    'a range of one number': /(?<![\d.])(-?\d[\d.]*(?:e-?\d+)?) to \1(?![\d.])/,
    'a letter like a figure': /\bl[12]\b/,
    'rows that are columns': /\bRows are columns|columns rows\b|points, columns those/,
    'a sentence cut off': / to$|is \d+, with /,
    'a number as a name': /\b(each|every|one|of|over|are) \d+s\b|^\d+s$/,
};
// A tab, by the tensor's axes and the scheme's document.
const TABS = {
    waves: ({shape, help}, {formula}) =>
        /^\[n, /.test(shape) && /\b(sin|cos|sines?|cosines?)\b/.test(`${help} ${formula}`)
            ? /^(Waves|Lines)$/
            : /^Lines$/,
    heads: ({shape}) => (/heads/.test(shape) ? /^(Heads|Dimensions)$/ : /^(?!Heads)\w+s\b/),
};
// What is no sentence, or comes from the service.
const OUTSIDE = 'table, code, option, svg text, select, .reply, .precision-recipe';
const lines = new Set();
// the wavelengths of xpos' scale, which is no wave, are asked for in vain
const expected = process.env.WORDS ? /status of 422/ : undefined;

// All that can be read or heard of a view: [where, text].
const textsOf = (page) =>
    page.evaluate((outside) => {
        const found = [];
        const take = (where, text) => {
            const told = text?.trim().replace(/\s*\n\s*/g, ' ');
            if (told) found.push([where, told]);
        };
        // of a label without what it labels
        const ownText = (element) => {
            const copy = element.cloneNode(true);
            for (const part of copy.querySelectorAll(outside)) part.remove();
            return copy.textContent;
        };
        for (const part of document.querySelectorAll('#bar, #view, #highlight, #readout')) {
            for (const element of part.querySelectorAll(
                'p, label, h3, button, figcaption, li, caption, summary',
            ))
                if (!element.closest(outside)) take(element.localName, ownText(element));
            for (const name of ['aria-label', 'placeholder'])
                for (const element of part.querySelectorAll(`[${name}]`))
                    take(name, element.getAttribute(name));
        }
        return found;
    }, OUTSIDE);

const tabsOf = (page) =>
    page.$$eval('#tabs button', (all) =>
        all.map(({dataset, textContent}) => [dataset.view, textContent]),
    );

// The texts of each view of what is open: [view, where, text].
async function readViews(page, tensor, scheme) {
    const read = [];
    for (const [view, title] of await tabsOf(page)) {
        if (view in TABS) assert.match(title, TABS[view](tensor, scheme), tensor.name);
        await page.click(`#tabs [data-view=${view}]`);
        await page.waitForSelector(`#view[data-drawn=${view}]`);
        await drawn(page);
        await page.waitForFunction(() => !document.querySelector('#view [aria-busy]'));
        for (const text of await textsOf(page)) read.push([title, ...text]);
    }
    return read;
}

for (const scheme of schemes)
    pageTest(`the sentences of ${scheme.name} are without fault`, {expected}, async (page) => {
        const wrong = [];
        await open(page, `?scheme=${scheme.name}&${scheme.example}`);
        const there = await page.$$eval('#tools option', (all) => all.map(({value}) => value));
        const tensors = scheme.tensors.filter(
            ({name}, i) => there.includes(name) || (there.length === 0 && i === 0),
        );
        for (const tensor of process.env.WORDS ? tensors : tensors.slice(0, 1)) {
            await open(
                page,
                `?scheme=${scheme.name}&${scheme.example}&view.tensor=${tensor.name}`,
            );
            for (const [view, where, text] of await readViews(page, tensor, scheme)) {
                lines.add(`${scheme.name} ${tensor.name}, ${view}, ${where}: ${text}`);
                for (const [fault, pattern] of Object.entries(FAULTS))
                    if (pattern.test(text)) wrong.push(`${view}: ${fault}: ${text}`);
            }
        }
        assert.deepEqual([...new Set(wrong)], []);
    });

after(() => {
    if (process.env.WORDS) writeFileSync(process.env.WORDS, `${[...lines].join('\n')}\n`);
});
