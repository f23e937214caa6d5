// Files of the picture that is shown: SVG, PNG and, of what turns, an animated GIF.
import {serviceInfo} from './api.js';
import {h} from './dom.js';
import {filmOf, sliderOf} from './film.js';
import {pictureOf, pixelsOf} from './picture.js';
import {titleOf} from './schema.js';

const SHARPNESS = 2; // pixels of a PNG for each of the screen's
const KINDS = {SVG: 'image/svg+xml', PNG: 'image/png', GIF: 'image/gif'};

let version = null; // of the service
const versionOf = async () => (version ??= (await serviceInfo()).version);

// What the picture shows, below it: each table's scheme and parameters, then the view and the
// service.
function captionOf(tables, view) {
    const parametersOf = ({settings}) =>
        Object.entries(settings.parameters)
            .filter(([, text]) => text != null && text !== '')
            .map(([name, text]) => `${name} ${text}`)
            .join(', ');
    const sides = tables.map(
        (table, i) =>
            `${tables.length > 1 ? `${'AB'[i]}: ` : ''}${table.scheme.title} ` +
            `(${table.settings.scheme}), ${table.tensor.name}: ${parametersOf(table)}`,
    );
    return [...sides, `${titleOf(view, tables[0])}, computed by posenc ${version}`];
}

function save(name, type, content) {
    const address = URL.createObjectURL(new Blob([content], {type}));
    h('a', {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // saving begins later
}

// Buttons for the picture in `place`; `shown()` gives {tables, view, colours}, `tell(text)` is
// heard.
export function createPictureFiles(place, shown, tell) {
    const capture = () => {
        const {tables, view, colours} = shown();
        return pictureOf(place, {
            title:
                `${tables.map(({scheme}) => scheme.title).join(' and ')}: ` +
                titleOf(view, tables[0]),
            caption: captionOf(tables, view),
            colours,
        });
    };
    const makers = {
        SVG: async () => capture().svg,
        PNG: async () => {
            const canvas = await pixelsOf(capture(), SHARPNESS);
            return new Promise((done) => {
                canvas.toBlob(done);
            });
        },
        GIF: () => filmOf(place, capture, (i, n) => tell(`Picture ${i} of ${n} …`)),
    };
    async function make(kind) {
        const {tables, view} = shown();
        const name = [...tables.map(({settings}) => settings.scheme), view.name].join('-');
        tell('');
        try {
            await Promise.all([
                versionOf(),
                ...tables.map(({wavelengthsKnown}) => wavelengthsKnown),
            ]); // which notes tell,
            await new Promise((told) => {
                setTimeout(told);
            }); // and then they have
            const content = await makers[kind]();
            if (!content) return tell('The view has been left: no file was made.');
            save(`${name}.${kind.toLowerCase()}`, KINDS[kind], content);
            tell(`${kind} saved.`);
        } catch (error) {
            tell(error.message);
        }
    }
    const buttons = Object.fromEntries(
        Object.keys(KINDS).map((kind) => [
            kind,
            h('button', {type: 'button', onclick: () => make(kind)}, kind),
        ]),
    );
    return {
        element: h(
            'span',
            {class: 'buttons', role: 'group', 'aria-label': 'Picture as a file'},
            ...Object.values(buttons),
        ),
        refresh: () => {
            buttons.GIF.hidden = !sliderOf(place);
        },
    };
}
