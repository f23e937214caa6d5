// The plan of a model: a config.json that is opened or dropped, or a well-known model by its
// name, as a table of its position tensors. A tensor of the table leads to its picture.
import {getDocument} from './api.js';
import {h} from './dom.js';
import {byteText} from './numbers.js';
import {adviceOn, isModelFile} from './files.js';
import {createSection} from './sections.js';

const HEAD_BYTES = 8 * 2 ** 20 - 2 ** 16; // of a GGUF file: a body has 8 MiB at most

// The address of the page that shows a tensor of a part: the part's own request, by the page's
// names.
export function addressOfTensor({name, request}, tensor) {
    const {pathname, search} = new URL(request, 'http://localhost');
    const query = search ? `&${search.slice(1)}` : '';
    return (
        `?scheme=${pathname.split('/').pop()}${query}` +
        `&view.tensor=${tensor.slice(name.length + 1)}`
    );
}

// "0–4, 6–10" for [0, 1, 2, 3, 4, 6, 7, 8, 9, 10].
export function rangesOf(numbers) {
    const ranges = [];
    for (const number of numbers) {
        const last = ranges.at(-1);
        if (last && number === last[1] + 1) last[1] = number;
        else ranges.push([number, number]);
    }
    return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
}

// Fills a section, which `button` opens and closes; `visit(address)` opens an address without
// reloading the page.
export function createModel(button, section, {visit}) {
    let controller = null,
        parts = null;
    const {set, close} = createSection(button, section, {
        opened: () => (parts ??= build()),
    });

    // The address of the first part that is computed, or null.
    function firstOf(plan) {
        const part = plan.parts.find(
            ({state, tensors}) => state === 'computed' && tensors?.length > 0,
        );
        return part ? addressOfTensor(part, part.tensors[0].name) : null;
    }

    function tensorLink(part, {name, dtype, shape, bytes}) {
        const text = `${name} ${dtype} [${shape.join(', ')}]`;
        if (part.state !== 'computed') return h('li', {}, text);
        const address = addressOfTensor(part, name);
        return h(
            'li',
            {},
            h(
                'a',
                {
                    href: address,
                    title: byteText(bytes),
                    onclick(event) {
                        // into another tab
                        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                        event.preventDefault();
                        visit(address);
                    },
                },
                text,
            ),
        );
    }

    const row = (part) =>
        h(
            'tr',
            {},
            h('th', {scope: 'row'}, part.name),
            h(
                'td',
                {},
                part.summary,
                ...(part.notes ?? []).map((note) => h('p', {class: 'quiet'}, note)),
            ),
            h('td', {'data-label': 'State'}, part.state),
            h('td', {'data-label': 'Layers'}, rangesOf(part.layers ?? [])),
            h(
                'td',
                {'data-label': 'Tensors'},
                h('ul', {}, ...(part.tensors ?? []).map((tensor) => tensorLink(part, tensor))),
            ),
        );

    function show(plan, what, download) {
        const head = h(
            'tr',
            {},
            ...['Part', 'What it is', 'State', 'Layers', 'Tensors'].map((text) =>
                h('th', {scope: 'col'}, text),
            ),
        );
        const unused =
            plan.not_used?.length > 0 &&
            h('p', {}, 'Keys without effect: ', h('code', {}, plan.not_used.join(', ')));
        const omissions = (plan.left_out ?? []).map(
            ({part, reason}) => `${part} is left out: ${reason}.`,
        );
        parts.result.replaceChildren(
            h(
                'p',
                {class: 'model-summary'},
                h('code', {}, what),
                ' ',
                plan.summary.replace(/: see left_out\b/, ''), // they are told below
            ),
            ...[...(plan.notes ?? []), ...omissions].map((note) => h('p', {}, note)),
            plan.parts.length > 0
                ? h(
                      'div',
                      {
                          class: 'model-frame',
                          tabindex: 0,
                          role: 'region',
                          'aria-label': 'Parts of the model',
                      },
                      h(
                          'table',
                          {},
                          h('thead', {}, head),
                          h('tbody', {}, ...plan.parts.map(row)),
                      ),
                  )
                : '',
            unused || '',
            download
                ? h('p', {}, h('a', {href: download}, 'All tensors as one safetensors file'))
                : '',
        );
    }

    // Ask for a plan and show it, or what is wrong.
    async function ask(url, what, {body, type, download} = {}) {
        controller?.abort();
        const mine = (controller = new AbortController());
        parts.result.replaceChildren(h('p', {class: 'quiet'}, `Reading ${what} …`));
        try {
            const plan = await getDocument(url, mine.signal, body, {type});
            if (mine !== controller) return;
            show(plan, what, download);
            const first = firstOf(plan);
            if (first) visit(first);
        } catch (error) {
            if (mine !== controller || error.name === 'AbortError') return;
            const told = error.document?.errors?.map(({message}) => message) ?? [error.message];
            parts.result.replaceChildren(
                h('p', {class: 'error'}, `${what} cannot be read:`),
                h('ul', {}, ...told.map((text) => h('li', {}, text))),
            );
        }
    }

    // Of a GGUF file the service reads the head alone.
    async function openFile(file) {
        set(true);
        if (/\.gguf$/i.test(file.name))
            return ask('/v1/models', file.name, {
                body: file.slice(0, HEAD_BYTES),
                type: 'application/octet-stream',
            });
        if (isModelFile(file)) return ask('/v1/models', file.name, {body: await file.text()});
        controller?.abort();
        parts.result.replaceChildren(
            h('p', {class: 'error'}, `${file.name} is no plan of a model. ${adviceOn(file)}`),
        );
    }

    async function fillNames(select) {
        const {models} = await getDocument('/v1/models');
        select.append(...models.map(({name}) => h('option', {value: name}, name)));
    }

    function build() {
        const file = h('input', {
            type: 'file',
            id: 'model-file',
            accept: '.json,.gguf,application/json',
            onchange() {
                if (file.files[0]) openFile(file.files[0]);
            },
        });
        const names = h(
            'select',
            {
                id: 'model-name',
                onchange() {
                    if (names.value)
                        ask(`/v1/models/${names.value}`, names.value, {
                            download: `/v1/models/${names.value}?format=safetensors`,
                        });
                },
            },
            h('option', {value: ''}, 'choose …'),
        );
        const result = h('div', {id: 'model-result', 'aria-live': 'polite'});
        fillNames(names).catch((error) =>
            result.replaceChildren(h('p', {class: 'error'}, error.message)),
        );
        section.append(
            h('h2', {}, 'Which positions does a model use?'),
            h(
                'div',
                {class: 'model-bar'},
                h(
                    'label',
                    {for: 'model-file'},
                    'Open a config.json or a .gguf file, or drop it here',
                ),
                file,
                h('label', {for: 'model-name'}, 'or choose a model'),
                names,
                h('button', {type: 'button', onclick: close}, 'Close'),
            ),
            result,
        );
        return {result, file};
    }

    return {
        open: openFile,
        clear() {
            controller?.abort();
            parts?.result.replaceChildren();
        },
    };
}
