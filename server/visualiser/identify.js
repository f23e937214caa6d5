// What made a table: a file that is opened or dropped is sent to the
// service, which answers in a sentence; below it the facts, and the table, the exact one and
// their difference side by side. The page then shows the request.
import {Problem, describe, getDocument, getElements, serviceInfo} from './api.js';
import {scaleOf} from './colours.js';
import {fileField} from './controls.js';
import {h, within} from './dom.js';
import {adviceOn} from './files.js';
import {brief, round} from './numbers.js';
import {createSection} from './sections.js';
import {isTableFile, layoutsOf, mediaTypeOf, readMatrix} from './table_file.js';
import {Table} from './tables.js';
import {MARGIN, createPanel} from './views/heatmap_panel.js';

const HIGH = 240; // pixels of a picture
const NARROW = 620;
const SAID = {
    exact: 'Every entry has the bits of the exact table.',
    match: 'Every entry is what this arithmetic gives.',
    near: '', // the summary says what does not fit, if anything
    unknown: '',
};

// {scheme, parameters} of "/v1/encodings/rope?length=4&dim=8&tensor=cos".
export function settingsOf(target) {
    const {pathname, searchParams} = new URL(target, 'http://localhost');
    const parameters = Object.fromEntries(
        [...searchParams].filter(([name]) => name !== 'tensor'),
    );
    return {scheme: pathname.split('/').pop(), parameters, tensor: searchParams.get('tensor')};
}

// The address of the page that shows it.
export function addressOfRequest(target) {
    const {scheme, tensor} = settingsOf(target);
    const query = new URL(target, 'http://localhost').search
        .slice(1)
        .split('&')
        .filter((pair) => !pair.startsWith('tensor='))
        .join('&');
    return `?scheme=${scheme}&${query}&view.tensor=${tensor}`;
}

// Whether the service lets a page at this host send tables, by `access` of /v1/info. Where a
// key is needed, it asks for one.
export function isOpen({tables}, hostname) {
    const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
    return tables === 'open' || tables === 'key' || (tables === 'loopback' && local);
}

// ": row 40, columns 3, 5, [3, 5]": where entries do not fit.
function placesOf({rows, columns, entries} = {rows: [], columns: [], entries: []}) {
    const list = (what, items) =>
        items.length > 0 ? [`${what}${items.length > 1 ? 's' : ''} ${items.join(', ')}`] : [];
    const places = [
        ...list('row', rows),
        ...list('column', columns),
        ...entries.slice(0, 8).map((at) => `[${at.join(', ')}]`),
    ];
    return places.length > 0 ? `: ${places.join(', ')}` : '';
}

// The facts of an answer, as [name, text] in order; those that say nothing are left out.
export function factsOf(answer) {
    const {request, against_exact: figures, exceptions} = answer;
    const most = figures?.max_abs;
    return [
        [
            'Arithmetic',
            [answer.arithmetic?.replace('_', ' '), answer.computation]
                .filter(Boolean)
                .join(': '),
        ],
        ['Presets', request?.presets?.join(', ')],
        [
            'Entries',
            figures &&
                `${figures.entries}, ${figures.differing === 0 ? 'none' : figures.differing} ` +
                    `of which differ${figures.differing > 1 ? '' : 's'} from the exact table`,
        ],
        [
            'Largest error',
            most &&
                `${brief(most.error)} at [${most.at.join(', ')}]: ${most.found} instead of ` +
                    `${most.exact}`,
        ],
        ['Beside the request', answer.forms?.map(({text}) => text).join('; ')],
        [
            'Entries that do not fit',
            answer.misfits > 0 ? `${answer.misfits}${placesOf(exceptions)}` : '',
        ],
        ['Search', answer.gave_up ? 'ended by the time it took' : ''],
    ].filter(([, text]) => text);
}

// ---- pictures ----

// A matrix with its columns in the order of the exact table, if an answer says that they come
// in another one.
export function orderColumns(matrix, order) {
    if (!order) return matrix;
    const {rows, columns} = matrix;
    const data = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++)
            data[row * columns + column] = matrix.data[row * columns + order[column]];
    return {...matrix, data};
}

const indexAxis = (title) => ({axis: '', title, at: (i) => i});
const tableOf = (matrix, dtype) =>
    new Table({
        ...matrix,
        dtype,
        row: indexAxis('row'),
        column: indexAxis(matrix.columns > 1 ? 'column' : ''),
        totalRows: matrix.rows,
    });

const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

// Forms of a table that leave its entries where they are, or that are undone here.
const IN_PLACE = ['transposed', 'columns', 'grid', 'masked', 'decimals', 'noise', 'factor'];

// The same part of the exact table, as often as the file has it; null where its entries stand
// elsewhere in the file, or are not all of it.
async function exactMatrix(answer, {rows, columns}, signal) {
    const target = answer.request.url;
    if (answer.forms?.some(({kind}) => !IN_PLACE.includes(kind))) return null;
    const {tensor: name, ...settings} = settingsOf(target);
    const {tensors} = await describe(settings, signal);
    const tensor = tensors.find((each) => each.name === name);
    if (sizeOf(tensor.shape) !== sizeOf(answer.shape)) return null;
    const {dtype} = tensor,
        scaled = answer.forms?.find(({kind}) => kind === 'factor');
    if (scaled && dtype !== 'i32') settings.parameters.dtype = tensor.dtype = 'f64';
    const {data} = await getElements(settings, tensor, 0, rows * columns, {signal});
    const {value: factor = 1, constant = 0} = scaled ?? {};
    const scale = (entry) =>
        Number.isFinite(entry) ? round(dtype, factor * entry + constant) : entry;
    return {
        rows,
        columns,
        data: scaled ? Float64Array.from(data, scale) : data,
        dtype,
        title: scaled
            ? `Exact, ${scaled.text.replace('every finite entry ', '')}`
            : 'The exact table',
    };
}

function differenceBetween(one, other) {
    const data = Float64Array.from(one.data, (value, i) =>
        value === other.data[i] ? 0 : value - other.data[i],
    );
    return {rows: one.rows, columns: one.columns, data};
}

// Three pictures, or the file's alone; `place` has the width.
function drawPanels(place, {name, exactName, tables: [own, exact, difference]}, colours) {
    const shared = scaleOf(colours, exact ? [own.extent, exact.extent] : [own.extent]);
    const count = place.clientWidth < NARROW ? 1 : 3;
    const room = Math.max(
        120,
        Math.floor(place.clientWidth / count) - MARGIN.left - MARGIN.right - 16,
    );
    const width = Math.min(room, Math.max(own.columns * 24, 120));
    const same = difference?.constant === 0;
    const panels = [
        [own, name, shared, ''],
        [exact, exactName, shared, ''],
        difference && [
            difference,
            'Yours minus exact',
            scaleOf(colours, [difference.extent]),
            same ? 'no difference' : '',
        ],
    ].filter((panel) => panel?.[0]);
    place.replaceChildren(
        ...panels.map(([table, title, scale, sameness]) => {
            const panel = createPanel(table, title, scale, {
                colours,
                mark: null,
                sameness,
                choosable: false,
            });
            panel.canvas.setAttribute('role', 'img'); // nothing moves here
            panel.canvas.removeAttribute('aria-roledescription');
            panel.canvas.removeAttribute('tabindex');
            const values =
                same && table === difference
                    ? 'no difference'
                    : `values from ${table.extent.map(brief).join(' to ')}`;
            panel.canvas.setAttribute(
                'aria-label',
                `${title}: ${table.rows} rows by ${table.columns} columns, ${values}`,
            );
            panel.resize(width, Math.min(HIGH, Math.max(table.rows * 24, 60)));
            panel.draw(
                {columns: [0, table.columns], rows: [0, table.rows]},
                {cell: null, column: null},
            );
            return panel.element;
        }),
    );
}

// ---- the section ----

// Fills a section, which `button` opens and closes; `visit(address)` opens an address without
// reloading the page, `colours()` are those of the theme.
export function createIdentify(button, section, {visit, colours}) {
    let controller = null,
        open = true, // until the service says otherwise
        parts = null,
        shown = null,
        askAgain = null; // with another key
    const {set, close} = createSection(button, section, {
        opened: () => (parts ??= build()),
    });
    const draw = () => {
        if (shown && !section.hidden) drawPanels(parts.pictures, shown, colours());
    };

    function link(target, text) {
        const address = addressOfRequest(target);
        return h(
            'a',
            {
                href: address,
                onclick: within(() => visit(address)),
            },
            text,
        );
    }

    function showAnswer(file, answer) {
        const {request, same_table: same = []} = answer;
        parts.result.replaceChildren(
            h(
                'p',
                {class: `identify-summary identify-${answer.status}`},
                h('code', {}, file.name),
                ' ',
                h('strong', {}, answer.status),
                ' ',
                answer.summary,
                ' ',
                SAID[answer.status],
            ),
            request
                ? h('p', {}, 'The request: ', link(request.url, h('code', {}, request.url)))
                : '',
            h(
                'dl',
                {},
                ...factsOf(answer).flatMap(([name, text]) => [
                    h('dt', {}, name),
                    h('dd', {}, text),
                ]),
            ),
            same.length > 0
                ? h(
                      'div',
                      {},
                      h('p', {}, 'The same table is also:'),
                      h(
                          'ul',
                          {},
                          ...same.map(({url}) => h('li', {}, link(url, h('code', {}, url)))),
                      ),
                  )
                : '',
        );
    }

    async function showPictures(file, layout, answer, signal) {
        const sent = layout?.code
            ? await readMatrix(file, layout, Boolean(answer.transposed))
            : null;
        const remark = (text) => parts.result.append(h('p', {class: 'quiet'}, text));
        if (!sent)
            return remark('The page draws no table of this format, dtype, order or size.');
        const rows = sizeOf(answer.shape) / sent.columns;
        if (rows > sent.rows) remark(`Only the first ${sent.rows} of ${rows} rows are drawn.`);
        if (!answer.request) {
            shown = {name: file.name, tables: [tableOf(sent, 'f64')]};
            return draw();
        }
        const own = orderColumns(sent, answer.columns);
        const exact = await exactMatrix(answer, own, signal);
        if (!exact) {
            shown = {name: file.name, tables: [tableOf(own, 'f64')]};
            remark(
                'The entries of the request’s table stand elsewhere in this file, or are not ' +
                    'all of it, so its picture is below and not beside it.',
            );
            return draw();
        }
        shown = {
            name: answer.columns ? 'Your table, its columns ordered' : 'Your table',
            exactName: exact.title,
            tables: [
                tableOf(own, exact.dtype),
                tableOf(exact, exact.dtype),
                tableOf(differenceBetween(own, exact), 'f64'),
            ],
        };
        draw();
    }

    function forgetPicture() {
        controller?.abort();
        shown = askAgain = null;
        parts?.pictures.replaceChildren();
    }

    function clear() {
        forgetPicture();
        parts?.result.replaceChildren();
        if (parts) parts.tensorField.hidden = true;
    }

    function tell(file, error) {
        if (error.name === 'AbortError') return;
        const told =
            error instanceof Problem && error.document?.errors?.length > 0
                ? error.document.errors.map(({message}) => message)
                : [error.message];
        if (!(error instanceof Problem)) console.error(error);
        parts.result.replaceChildren(
            h('p', {class: 'error'}, `${file.name} cannot be identified:`),
            h('ul', {}, ...told.map((text) => h('li', {}, text))),
        );
    }

    // Ask what made the table of a file, or a tensor of it, and show the answer.
    async function ask(file, tensor, layout) {
        forgetPicture();
        const mine = (controller = new AbortController());
        askAgain = () => ask(file, tensor, layout);
        parts.result.replaceChildren(
            h('p', {class: 'quiet'}, `Looking at ${tensor || file.name} …`),
        );
        try {
            const query = !tensor ? '' : `?file_tensor=${encodeURIComponent(tensor)}`;
            const answer = await getDocument(`/v1/identify${query}`, mine.signal, file, {
                type: mediaTypeOf(file),
                key: parts.key.value,
            });
            if (mine !== controller) return;
            showAnswer(file, answer);
            if (answer.request) visit(addressOfRequest(answer.request.url));
            await showPictures(file, layout, answer, mine.signal);
        } catch (error) {
            if (mine !== controller) return;
            if (error.status !== 401) return tell(file, error);
            parts.keyField.hidden = false;
            const detail = parts.key.value
                ? 'This is not the server’s key.'
                : 'The server looks at tables of those with its key alone: type it above.';
            tell(file, new Problem({detail}, 401));
            parts.key.focus();
        }
    }

    function refuse(file, detail) {
        set(true);
        clear();
        tell(file, new Problem({detail}, 0));
    }

    // A file of several tensors asks for one of them, unless one alone has the shape.
    async function openFile(file, shape = null) {
        set(true);
        if (!(await isTableFile(file))) return refuse(file, adviceOn(file));
        if (!open) return refuse(file, 'This server takes no tables from pages (--tables).');
        // the service says what is wrong
        const layouts = await layoutsOf(file).catch(() => ({}));
        const names = Object.keys(layouts);
        parts.tensors.replaceChildren();
        parts.tensorField.hidden = names.length < 2;
        parts.open = (name) => ask(file, name, layouts[name]);
        parts.tensors.append(
            h('option', {value: ''}, 'choose …'),
            ...names.map((name) => h('option', {value: name}, name)),
        );
        const wanted = names.filter((name) => String(layouts[name]?.shape) === String(shape));
        if (wanted.length === 1) parts.tensors.value = wanted[0];
        if (wanted.length === 1 || names.length < 2) {
            const name = wanted[0] ?? names[0];
            return ask(file, name, layouts[name]);
        }
        forgetPicture();
        parts.result.replaceChildren(
            h('p', {}, `${file.name} has ${names.length} tensors: choose one.`),
        );
        parts.tensors.focus();
    }

    function build() {
        const file = fileField(openFile, {
            id: 'identify-file',
            accept: '.npy,.safetensors,.csv,.json',
        });
        const tensors = h('select', {
            id: 'identify-tensor',
            onchange() {
                if (tensors.value) parts.open(tensors.value);
            },
        });
        const tensorField = h(
            'span',
            {class: 'identify-field', hidden: true},
            h('label', {for: 'identify-tensor'}, 'Tensor'),
            tensors,
        );
        const key = h('input', {
            type: 'password',
            id: 'identify-key',
            autocomplete: 'off',
            onchange: () => askAgain?.(),
        });
        const keyField = h(
            'span',
            {class: 'identify-field', hidden: true},
            h('label', {for: 'identify-key'}, "The server's key"),
            key,
        );
        const result = h('div', {id: 'identify-result', 'aria-live': 'polite'});
        const pictures = h('div', {id: 'identify-pictures'});
        section.append(
            h('h2', {}, 'What made this table?'),
            h(
                'div',
                {class: 'model-bar'},
                h(
                    'label',
                    {for: 'identify-file'},
                    'Open an .npy, .safetensors, .csv or .json file, or drop it here',
                ),
                file,
                tensorField,
                keyField,
                h('button', {type: 'button', onclick: close}, 'Close'),
            ),
            result,
            pictures,
        );
        return {result, pictures, tensors, tensorField, key, keyField};
    }

    let width = 0;
    new ResizeObserver(([{contentRect}]) => {
        if (Math.round(contentRect.width) !== Math.round(width)) draw();
        width = contentRect.width;
    }).observe(section);
    serviceInfo()
        .then(({access}) => (open = isOpen(access, location.hostname)))
        .catch(() => {}) // a request will tell why
        .finally(() => (button.hidden = !open));
    return {
        draw,
        clear,
        open: openFile,
    };
}
