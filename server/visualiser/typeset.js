// Formulas as KaTeX draws them, once its script and its styles have come. They are asked for
// with the first formula and kept out of the page's own script, so that no picture waits for
// them.
let coming = null;

const arrived = (element) =>
    new Promise((resolve, reject) => {
        element.addEventListener('load', resolve);
        element.addEventListener('error', () =>
            reject(new Error(`${element.outerHTML} fails`)),
        );
        document.head.append(element);
    });

function load() {
    const link = (id) => document.getElementById(id).href;
    const style = Object.assign(document.createElement('link'), {
        rel: 'stylesheet',
        href: link('math-style'),
    });
    const script = Object.assign(document.createElement('script'), {src: link('math-script')});
    // on pages that are opened as files all scripts are plain
    if (document.querySelector('script[type=module]')) script.type = 'module';
    return Promise.all([arrived(style), arrived(script)]);
}

// Puts TeX into an element in place of its text; gives the element.
export function typesetLater(element, tex) {
    coming ??= load();
    coming.then(
        () => globalThis.posencTypeset(tex, element),
        () => {}, // the text stays
    );
    return element;
}
