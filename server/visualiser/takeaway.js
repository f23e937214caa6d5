// The menu "take it away": the shown table as code to copy, as files, as a picture, as an
// address and as a frame. The service says which formats there are, which options they have and
// why they refuse a table; HEAD gets this without the body.
import {Problem, addressOf, getDocument, isSite, serviceInfo} from './api.js';
import {later} from './busy.js';
import {h} from './dom.js';
import {byteText, clamp} from './numbers.js';
import {SITE_SNIPPETS, SNIPPETS} from './snippets.js';
import {fullAddress} from './state.js';
import {createPictureFiles} from './takeaway_picture.js';

const PIXELS = 1024; // that the longer side of a picture should come close to

// The query's part for the shown tensor, if there are several.
const tensorOf = ({available, tensor}) => (available.length > 1 ? {tensor: tensor.name} : {});

// Options that the format has: the slice, and for pictures size and colours.
function optionsOf({options}, {leading, slice, tensor, extent}) {
    const values = {
        slice: () => (leading.length > 0 ? slice.join() : ''),
        scale: ({minimum, maximum}) =>
            String(
                clamp(
                    Math.floor(PIXELS / Math.max(...tensor.shape.slice(-2))),
                    minimum,
                    maximum,
                ),
            ),
        colormap: ({choices}) =>
            extent[0] < 0 ? '' : (choices.find((choice) => choice === 'viridis') ?? ''),
    };
    return Object.fromEntries(
        options.map((option) => [option.name, values[option.name]?.(option) ?? '']),
    );
}

const fileAddress = (format, table) =>
    addressOf(table.settings, {
        ...tensorOf(table),
        format: format.name,
        ...optionsOf(format, table),
    });

// The service's answer to HEAD: {bytes} (NaN if unknown) or {refused: reason}.
async function ask(address, signal) {
    const reply = await fetch(address, {method: 'HEAD', signal});
    if (reply.ok) return {bytes: Number(reply.headers.get('Content-Length') ?? NaN)};
    return getDocument(address, signal).then(
        () => ({bytes: NaN}),
        (error) => {
            if (error instanceof Problem) return {refused: error.message};
            throw error;
        },
    );
}

const answers = new Map(); // by address
async function askOnce(address, signal) {
    if (!answers.has(address)) answers.set(address, await ask(address, signal));
    return answers.get(address);
}

function fileLink(format, address, {bytes, refused}) {
    const slice = new URLSearchParams(address.split('?')[1]).get('slice');
    if (refused)
        return h('li', {class: 'quiet takeaway-refused'}, `no ${format.name}: ${refused}`);
    const size = Number.isNaN(bytes) || bytes === 0 ? '' : ` ${byteText(bytes)}`;
    return h(
        'li',
        {},
        h('a', {href: address, download: true, title: format.help}, format.name),
        slice && ` slice ${slice}`,
        size,
    );
}

// Select a text, so that the user can copy it.
function select(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
}

// The code that shows an address of the page within another page.
const frameOf = (address) =>
    `<iframe src="${address.replace(/&/g, '&amp;')}" width="800" height="500" ` +
    'title="posenc"></iframe>';

// Fills a <details>; show(tables) passes the tables that are on the screen. `place` holds the
// picture, and `shown()` gives {tables, view, colours} of it.
export function createTakeaway(details, place, shownThere) {
    const news = h('span', {role: 'status', id: 'takeaway-news'});
    const link = h('code', {id: 'permalink'}),
        frame = h('code', {id: 'frame'});
    const pictures = createPictureFiles(place, shownThere, (text) => {
        news.textContent = text;
    });
    const sides = h('div');
    const snippets = isSite() ? SITE_SNIPPETS : SNIPPETS;
    let chosen = snippets[0],
        tables = [],
        formats = null,
        asking = null;

    async function copy(element, what) {
        try {
            await navigator.clipboard.writeText(element.textContent);
            news.textContent = `${what} copied.`;
        } catch {
            // no clipboard here, or none allowed
            select(element);
            news.textContent = `${what} selected: copy it with Ctrl+C.`;
        }
    }

    const copyButton = (text, element, what) =>
        h('button', {type: 'button', onclick: () => copy(element(), what())}, text);

    function snippetOf(table) {
        const url = (format) =>
            (isSite() ? '' : location.origin) +
            addressOf(table.settings, {...tensorOf(table), format});
        return chosen.write({dtype: table.dtype, shape: table.tensor.shape, url});
    }

    function side(table, i) {
        const name = tables.length > 1 ? 'AB'[i] : '';
        const code = h('code', {}, snippetOf(table));
        const files = h('ul', {class: 'takeaway-files', 'aria-label': `Files ${name}`.trim()});
        const title =
            `${name && `${name}: `}${table.settings.scheme} ${table.tensor.name}, ` +
            `${table.dtype} [${table.tensor.shape.join(', ')}]`;
        const element = h(
            'div',
            {class: 'takeaway-side'},
            h('p', {class: 'takeaway-title'}, title),
            h(
                'div',
                {class: 'takeaway-code'},
                h(
                    'pre',
                    {tabindex: 0, role: 'region', 'aria-label': `Code ${name}`.trim()},
                    code,
                ),
                copyButton(
                    `Copy ${name}`.trim(),
                    () => code,
                    () => `${chosen.name} code`,
                ),
            ),
            files,
        );
        return {table, code, files, element};
    }

    let shown = [];
    // The files that have been answered; earlier answers are shown at once.
    function showFiles() {
        for (const {table, files} of shown) {
            const addresses = formats.map((format) => fileAddress(format, table));
            if (!addresses.every((address) => answers.has(address))) continue;
            files.replaceChildren(
                h('li', {}, 'Download'),
                ...formats.map((format, i) =>
                    fileLink(format, addresses[i], answers.get(addresses[i])),
                ),
            );
        }
    }

    const askSoon = later(async () => {
        asking?.abort();
        asking = new AbortController();
        const {signal} = asking;
        try {
            formats ??= (await serviceInfo()).formats;
            await Promise.all(
                shown.flatMap(({table}) =>
                    formats.map((format) => askOnce(fileAddress(format, table), signal)),
                ),
            );
            if (!signal.aborted) showFiles();
        } catch (error) {
            if (error.name !== 'AbortError') news.textContent = error.message;
        }
    }, 200);

    function refreshLink() {
        // panning changes it without a word
        link.textContent = location.href;
        frame.textContent = frameOf(
            new URL(fullAddress(location.search, {embed: '1'}), location.href).href,
        );
        pictures.refresh();
    }
    function render() {
        asking?.abort();
        refreshLink();
        if (!details.open || tables.length === 0) return;
        shown = tables.map(side);
        sides.replaceChildren(...shown.map(({element}) => element));
        news.textContent = '';
        if (formats) showFiles();
        askSoon();
    }

    function choose(snippet) {
        chosen = snippet;
        for (const button of languages.children)
            button.setAttribute('aria-pressed', String(button.textContent === chosen.name));
        for (const {table, code} of shown) code.textContent = snippetOf(table);
        news.textContent = '';
    }
    const languages = h(
        'span',
        {class: 'buttons', role: 'group', 'aria-label': 'Copy as'},
        ...snippets.map((snippet) =>
            h(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(snippet === chosen),
                    onclick: () => choose(snippet),
                },
                snippet.name,
            ),
        ),
    );

    details.append(
        h('div', {class: 'takeaway-bar'}, h('span', {}, 'Copy as'), languages, news),
        h('div', {class: 'takeaway-bar'}, h('span', {}, 'This picture as'), pictures.element),
        sides,
        ...[
            ['permalink', link],
            ['frame', frame],
        ].map(([what, code]) =>
            h(
                'div',
                {class: 'takeaway-bar'},
                copyButton(
                    `Copy ${what}`,
                    () => {
                        refreshLink();
                        return code;
                    },
                    () => what[0].toUpperCase() + what.slice(1),
                ),
                code,
            ),
        ),
    );
    details.addEventListener('toggle', render);
    for (const event of ['pointerenter', 'focusin'])
        details.addEventListener(event, refreshLink);
    return {
        show(now) {
            tables = now;
            render();
        },
    };
}
