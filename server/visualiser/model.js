// The plan of a model, from a config.json or by a well-known name, as a table of its position
// tensors, and two models compared. A tensor leads to its picture, a trained one to the file
// that has it.
import {fileField, tableOf} from './controls.js';
import {getDocument} from './api.js';
import {h, within} from './dom.js';
import {dependents} from './prefill.js';
import {rangesText} from './lists.js';
import {byteText} from './numbers.js';
import {adviceOn, isModelFile} from './files.js';
import {createSection} from './sections.js';
import {steeringOf} from './variants.js';

const HEAD_BYTES = 8 * 2 ** 20 - 2 ** 16; // of a GGUF file: a body has 8 MiB at most

// The settings of the page that a part's own request means: [[name, value]].
function settingsOf({request}) {
    const {pathname, searchParams} = new URL(request, 'http://localhost');
    searchParams.delete('tensor'); // which the page calls view.tensor
    return [['scheme', pathname.split('/').pop()], ...searchParams];
}

// The length that a part was trained with, by its config.
const trainedOf = ({facts = {}}) =>
    (facts.original_max_position_embeddings ?? facts.positions)?.value;

const queryOf = (pairs) => `?${new URLSearchParams(pairs)}`.replace(/%2C/g, ',');
const ofB = (pairs) => pairs.map(([name, value]) => [`right.${name}`, value]);
const markOf = (part) =>
    part.kind === 'rope' && trainedOf(part) ? [['view.mark', trainedOf(part)]] : [];

// The address of the page that shows a tensor of a part.
export const addressOfTensor = (part, tensor) =>
    queryOf([
        ...settingsOf(part),
        ['view.tensor', tensor.slice(part.name.length + 1)],
        ...markOf(part),
    ]);

// The address of the wavelengths of a part before and after its scaling; null if it has none.
function addressOfScaling(part, schemeOf) {
    const scaled = settingsOf(part),
        scheme = schemeOf(scaled[0][1]);
    const steering = scheme && steeringOf(scheme);
    if (part.kind !== 'rope' || !scaled.some(([name]) => name === steering?.name)) return null;
    const scaling = [steering, ...dependents(scheme, steering.name)].map(({name}) => name);
    const plain = scaled.filter(([name]) => !scaling.includes(name));
    return queryOf([...plain, ...ofB(scaled), ['view', 'spectrum'], ...markOf(part)]);
}

// The address of two models' parts beside each other.
const addressOfTwo = (one, other) =>
    queryOf([...settingsOf(one), ...ofB(settingsOf(other)), ['view', 'spectrum']]);

// Code that takes a trained table of a shape from a checkpoint.
const loaderOf = (shape) => `from safetensors import safe_open

with safe_open("model.safetensors", "np") as file:
    names = [name for name in file.keys()
             if file.get_slice(name).get_shape() == [${shape.join(', ')}]]
    table = file.get_tensor(names[0])  # the learned positions are the one of this shape
`;

// Fills a section, which `button` opens and closes; `visit(address)` opens an address without
// reloading the page, `identify(file, shape)` looks at the tensor of that shape in a file,
// `schemeOf(name)` gives a scheme's document.
export function createModel(button, section, {visit, identify, schemeOf}) {
    let controller = null,
        parts = null,
        shown = null; // {plan, what, config: as /v1/models/compare takes it}
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
        return h('li', {}, linkTo(addressOfTensor(part, name), text, byteText(bytes)));
    }

    const linkTo = (address, text, title = null) =>
        h(
            'a',
            {
                href: address,
                title,
                onclick: within(() => visit(address)),
            },
            text,
        );

    // Where a trained table is: code that loads it, and a button that does.
    function trainedTable({tensors}) {
        const [{shape}] = tensors;
        const file = fileField((chosen) => identify(chosen, shape), {
            hidden: true,
            accept: '.safetensors',
        });
        return h(
            'div',
            {class: 'model-trained'},
            'Its numbers are trained: they are in the checkpoint. ',
            h(
                'button',
                {type: 'button', onclick: () => file.click()},
                'Show it from a .safetensors file …',
            ),
            file,
            h(
                'details',
                {},
                h('summary', {}, 'Code that loads it'),
                h('pre', {}, h('code', {}, loaderOf(shape))),
            ),
        );
    }

    function scaling(part) {
        const address = part.state === 'computed' && addressOfScaling(part, schemeOf);
        return address
            ? h('p', {}, linkTo(address, 'Its wavelengths before and after the scaling'))
            : '';
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
                scaling(part),
                part.state === 'trained' && part.tensors?.length > 0 ? trainedTable(part) : '',
            ),
            h('td', {'data-label': 'State'}, part.state),
            h('td', {'data-label': 'Layers'}, rangesText(part.layers ?? [], Infinity)),
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
            h('p', {}, 'Keys without effect: ', h('code', {}, plan.not_used.join('; ')));
        const isTrained = (name) =>
            plan.parts.some(({name: each, state}) => each === name && state === 'trained');
        const omitted = (plan.left_out ?? []).filter(({part}) => !isTrained(part));
        const reasons = [...new Set(omitted.map(({reason}) => reason))];
        const omissions = reasons.map((reason) => {
            const names = omitted.filter((each) => each.reason === reason);
            return `Left out: ${names.map(({part}) => part).join(', ')}: ${reason}.`
                .replace(': its ', ', whose ')
                .replace(/\. Upload .*/, '.'); // the page sends no sets
        });
        parts.result.replaceChildren(
            h(
                'p',
                {class: 'model-summary'},
                h('code', {}, what),
                ' ',
                // what is left out is told below
                plan.summary.replace(
                    /(; 0 kB of tensors, which leave out 1 part)?: see left_out\b/,
                    '',
                ),
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
            download && plan.parts.some(({state}) => state === 'computed')
                ? h('p', {}, h('a', {href: download}, 'All tensors as one safetensors file'))
                : '',
            compareBar(),
        );
    }

    // ---- two models ----

    function compareBar() {
        const other = h(
            'select',
            {id: 'model-other', onchange: () => other.value && compare(other.value)},
            h('option', {value: ''}, 'choose …'),
            ...[...parts.names.options].slice(1).map((each) => each.cloneNode(true)),
        );
        other.value = '';
        return h(
            'p',
            {class: 'model-bar'},
            h('label', {for: 'model-other'}, `Compare ${shown.what} with`),
            other,
            h('span', {class: 'quiet'}, ' or open, drop or paste another config'),
        );
    }

    const valueText = (value) =>
        value === null
            ? 'absent'
            : Array.isArray(value)
              ? rangesText(value, Infinity)
              : String(value);

    // What differs between the model that is shown and another one.
    async function compare(second, what = second) {
        const first = shown,
            body = JSON.stringify({first: first.config, second});
        const mine = (controller = new AbortController());
        const place = h('div', {class: 'model-compared'});
        parts.result.querySelector('.model-compared')?.remove();
        parts.result.append(place);
        try {
            const found = await getDocument('/v1/models/compare', mine.signal, body);
            const plan =
                typeof second === 'string'
                    ? await getDocument(`/v1/models/${second}`, mine.signal)
                    : await getDocument('/v1/models', mine.signal, JSON.stringify(second));
            if (mine !== controller) return;
            showComparison(place, found, [first.what, what], [first.plan, plan]);
        } catch (error) {
            if (error.name !== 'AbortError')
                place.replaceChildren(h('p', {class: 'error'}, error.message));
        }
    }

    function showComparison(place, {equal, differences, tables = []}, names, plans) {
        const rows = [
            ...differences.map(({part, about, first, second}) => [
                `${part}: ${about.replace(/_/g, ' ')}`,
                valueText(first),
                valueText(second),
            ]),
            ...tables.map(({part, tensor, largest_error: error, first_position: at}) => [
                `${part}: table ${tensor}`,
                `another from position ${at} on`,
                `by up to ${Number(error.toPrecision(3))}`,
            ]),
        ];
        const [one, other] = plans.map((plan) =>
            plan.parts.find(({state}) => state === 'computed'),
        );
        place.replaceChildren(
            h(
                'p',
                {class: 'model-verdict'},
                equal
                    ? `${names.join(' and ')} have the same positions.`
                    : `${names.join(' and ')} differ:`,
            ),
            rows.length > 0 ? tableOf(['', ...names], rows) : '',
            one && other
                ? h('p', {}, linkTo(addressOfTwo(one, other), 'Show both beside each other'))
                : '',
        );
    }

    // Ask for a plan and show it, or what is wrong.
    async function ask(url, what, {body, type, download, config} = {}) {
        controller?.abort();
        const mine = (controller = new AbortController());
        shown = null;
        parts.result.replaceChildren(h('p', {class: 'quiet'}, `Reading ${what} …`));
        try {
            const plan = await getDocument(url, mine.signal, body, {type});
            if (mine !== controller) return;
            shown = {plan, what, config};
            show(plan, what, download);
            const first = firstOf(plan);
            if (first) visit(first);
        } catch (error) {
            if (mine !== controller || error.name === 'AbortError') return;
            const told = error.document?.errors?.map(({message}) =>
                message.replace('that GET /v1/models lists', 'that the service knows'),
            ) ?? [error.message];
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
        if (await isModelFile(file)) return openText(await file.text(), file.name);
        controller?.abort();
        parts.result.replaceChildren(
            h('p', {class: 'error'}, `${file.name} is no plan of a model. ${adviceOn(file)}`),
        );
    }

    // A config as text: a second one, where a model is shown, is compared with that if asked.
    function openText(text, what) {
        set(true);
        let config = null;
        try {
            config = JSON.parse(text);
        } catch {
            // the service says what is wrong
        }
        if (shown && config && parts.withShown.checked) return compare(config, what);
        return ask('/v1/models', what, {body: text, config});
    }

    // A config that is pasted anywhere but in a field.
    document.addEventListener('paste', (event) => {
        const text = event.clipboardData?.getData('text') ?? '';
        if (event.target.closest?.('input, textarea') || !/^\s*\{/.test(text)) return;
        event.preventDefault();
        openText(text, 'the pasted config');
    });

    async function fillNames(select) {
        const {models} = await getDocument('/v1/models');
        select.append(...models.map(({name}) => h('option', {value: name}, name)));
    }

    function build() {
        const file = fileField(openFile, {
            id: 'model-file',
            accept: '.json,.gguf,application/json',
        });
        const names = h(
            'select',
            {
                id: 'model-name',
                onchange() {
                    if (names.value)
                        ask(`/v1/models/${names.value}`, names.value, {
                            download: `/v1/models/${names.value}?format=safetensors`,
                            config: names.value,
                        });
                },
            },
            h('option', {value: ''}, 'choose …'),
        );
        const pasted = h('textarea', {
            id: 'model-text',
            rows: 1,
            cols: 20,
            spellcheck: 'false',
            placeholder: '{"model_type": …}',
            oninput() {
                if (!/^\s*\{[^]*\}\s*$/.test(pasted.value)) return;
                openText(pasted.value, 'the pasted config');
                pasted.value = '';
            },
        });
        const withShown = h('input', {type: 'checkbox', id: 'model-with'});
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
                h('label', {for: 'model-text'}, 'or paste a config.json'),
                pasted,
                h('label', {class: 'model-with'}, withShown, ' compare it with the one shown'),
                h('button', {type: 'button', onclick: close}, 'Close'),
            ),
            result,
        );
        return {result, file, names, withShown};
    }

    return {
        open: openFile,
        // of the trained table of the model that is shown, or null
        trainedShape: () =>
            shown?.plan.parts.find(({state}) => state === 'trained')?.tensors?.[0]?.shape ??
            null,
        clear() {
            controller?.abort();
            shown = null;
            parts?.result.replaceChildren();
        },
    };
}
