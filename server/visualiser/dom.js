// Elements in one line: h('label', {class: 'field', onclick() {…}}, 'text', child).
export function h(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
        else if (value === true) element.setAttribute(key, '');
        else if (value != null && value !== false) element.setAttribute(key, value);
    }
    element.append(
        ...children.filter((child) => child != null && child !== false && child !== ''),
    );
    return element;
}

export const byId = (id) => document.getElementById(id);
