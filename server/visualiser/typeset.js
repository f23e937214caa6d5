// Formulas as KaTeX draws them, once its script and its styles have come. They are no part of
// the page's own script, and are asked for when the first picture is on the screen: until then
// a formula is text, and no picture waits for it.
let begin;
const begun = new Promise((resolve) => {
    begin = resolve;
});
let coming = null;

export const startTypesetting = () => begin();

const arrived = (element) =>
    new Promise((resolve, reject) => {
        element.addEventListener('load', resolve);
        element.addEventListener('error', () =>
            reject(new Error(`${element.outerHTML} fails`)),
        );
    });

function load() {
    const style = document.getElementById('math-style');
    const {src} = document.getElementById('math-script');
    const script = Object.assign(document.createElement('script'), {src});
    // on pages that are opened as files all scripts are plain
    if (document.querySelector('script[type=module]')) script.type = 'module';
    const both = Promise.all([arrived(style), arrived(script)]);
    style.disabled = false;
    document.head.append(script);
    return both;
}

// Puts TeX into an element in place of its text; gives the element.
export function typesetLater(element, tex) {
    coming ??= begun.then(load);
    coming.then(
        () => globalThis.posencTypeset(tex, element),
        () => {}, // the text stays
    );
    return element;
}
