// Typesets TeX by KaTeX. The page asks for this script once its picture is on the screen: until
// then, and where it does not come, formulas are plain text.
import katex from 'katex';

const OPTIONS = {
    throwOnError: false,
    strict: false, // \htmlData is no LaTeX
    trust: ({command}) => command === '\\htmlData',
};

globalThis.posencTypeset = (tex, element) => katex.render(tex, element, OPTIONS);
