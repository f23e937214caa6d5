// The API reference at /docs: a first request to send, and all operations in groups. Swagger UI
// shows the one that is opened, and is loaded with the first one.
import {getDocument} from './api.js';
import {byId, h} from './dom.js';
import {createFirst} from './docs_first.js';
import {forReading, groupsOf, partOf} from './docs_document.js';
import {createTheme} from './theme.js';

const LEAST = 320; // pixels of a picture's longer side: one of four rows is small otherwise

// Draw a picture of few pixels larger, by a whole number.
function enlarge(image) {
    const side = Math.max(image.naturalWidth, image.naturalHeight);
    image.classList.add('pixels');
    image.style.width = `${image.naturalWidth * Math.max(1, Math.ceil(LEAST / side))}px`;
}

let viewer = null;
function loadViewer() {
    viewer ??= new Promise((loaded, failed) => {
        const script = h('script', {
            src: byId('viewer').href,
            onload: () => loaded(globalThis.posencReference),
            onerror: () => failed(new Error('The service does not answer.')),
        });
        document.head.append(script);
    });
    return viewer;
}

// Names for choices, a place in the order of Tab for what scrolls, and a size for pictures,
// which Swagger UI leaves out; and which parameters are rarely needed.
function amend(root, {first}) {
    for (const row of root.querySelectorAll('tr[data-param-name]'))
        row.classList.toggle('rest', !first.has(row.dataset.paramName));
    for (const select of root.querySelectorAll('[data-param-name] select:not([aria-label])'))
        select.setAttribute(
            'aria-label',
            select.closest('[data-param-name]').dataset.paramName,
        );
    for (const code of root.querySelectorAll(
        '.microlight:not([tabindex]), .curl:not([tabindex])',
    ))
        code.tabIndex = 0;
    for (const image of root.querySelectorAll('.responses-wrapper img:not(.pixels)'))
        if (image.complete && image.naturalWidth > 0) enlarge(image);
        else image.addEventListener('load', () => enlarge(image), {once: true});
}

// Whether Swagger UI is not ready yet: it draws Execute before it knows the parameters, and a
// click at it is lost.
const isComing = (root) =>
    !root.querySelector('.opblock') ||
    Boolean(root.querySelector('.opblock-loading-animation'));

// The parameters that a request begins with: those that it needs, and those of its example.
function parametersOf(document, {parameters = []}) {
    const all = parameters.map((each) =>
        each.$ref ? document.components.parameters[each.$ref.split('/').pop()] : each,
    );
    const first = all.filter(({required, example}) => required || example !== undefined);
    const names = first.length > 0 ? first : all;
    return {all: all.length, first: new Set([...names.map(({name}) => name), 'format'])};
}

function fill(place, document, found) {
    const {all, first} = parametersOf(document, found.operation);
    const waiting = h('p', {class: 'quiet'}, 'Loading …');
    const root = h('div', {class: 'viewer', hidden: true});
    const more = h(
        'button',
        {
            type: 'button',
            'aria-pressed': 'false',
            onclick() {
                const shown = place.classList.toggle('all');
                more.setAttribute('aria-pressed', String(shown));
            },
        },
        `All ${all} parameters`,
    );
    place.replaceChildren(
        h('p', {}, found.operation.description),
        all > first.size && more,
        waiting,
        root,
    );
    new MutationObserver(() => {
        amend(root, {first});
        root.hidden = isComing(root);
        waiting.hidden = !root.hidden;
    }).observe(root, {childList: true, subtree: true});
    return loadViewer().then((show) => show(partOf(document, found), root));
}

// An operation as a line that opens it.
function lineOf(document, found) {
    const {method, path, operation} = found;
    const place = h('div', {class: 'operation-body'});
    const line = h(
        'details',
        {
            class: `operation ${method}`,
            id: `operation-${operation.tags[0]}-${operation.operationId}`,
            ontoggle() {
                if (!line.open || place.firstChild) return;
                fill(place, document, found).catch((error) =>
                    place.replaceChildren(h('p', {class: 'failed'}, error.message)),
                );
            },
        },
        h(
            'summary',
            {},
            h('span', {class: 'method'}, method.toUpperCase()),
            ' ',
            h('code', {class: 'path'}, path),
            ' ',
            h('span', {class: 'summary'}, operation.summary),
        ),
        place,
    );
    return line;
}

function createFilter(groups) {
    const input = h('input', {
        type: 'search',
        id: 'filter',
        placeholder: 'rope, compare, gguf …',
        oninput() {
            const wanted = input.value.toLowerCase();
            for (const group of groups) {
                const lines = [...group.querySelectorAll('.operation')];
                for (const line of lines)
                    line.hidden = !line
                        .querySelector('summary')
                        .textContent.toLowerCase()
                        .includes(wanted);
                group.hidden = lines.every((line) => line.hidden);
                if (wanted) group.open = true;
            }
        },
    });
    return h('p', {}, h('label', {for: 'filter'}, 'Find '), input);
}

// "#/encodings/get_rope" opens that operation.
function followHash() {
    const [, tag, id] = decodeURIComponent(location.hash).split('/');
    const line = id && byId(`operation-${tag}-${id}`);
    if (!line) return;
    line.closest('.group').open = true;
    line.open = true;
    line.scrollIntoView();
}

async function begin() {
    createFirst(byId('first'), byId('first-answer'), byId('first-others'));
    const document = forReading(await getDocument('/openapi.json'));
    const groups = groupsOf(document).map(({title, notice, operations}, i) =>
        h(
            'details',
            {class: 'group', open: i === 0},
            h('summary', {}, h('h3', {}, title), ' ', h('span', {class: 'quiet'}, notice)),
            ...operations.map((found) => lineOf(document, found)),
        ),
    );
    byId('message').remove();
    byId('reference').append(
        h(
            'details',
            {},
            h('summary', {}, `Version ${document.info.version}: what all answers share`),
            h('p', {}, document.info.description),
        ),
        createFilter(groups),
        ...groups,
    );
    followHash();
    addEventListener('hashchange', followHash);
}

const theme = createTheme(byId('theme'), follow);
function follow() {
    document.documentElement.classList.toggle('dark-mode', theme.current() === 'dark');
}
follow();
begin().catch((error) => {
    byId('message').textContent = error.message;
    byId('message').className = 'failed';
});
