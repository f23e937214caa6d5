// The API reference at /docs: Swagger UI shows /openapi.json.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import {getDocument} from './api.js';
import {forReading} from './docs_document.js';
import {createTheme} from './theme.js';

const byId = (id) => document.getElementById(id);

// Swagger UI's own layout begins with a heading, a choice of servers and the version of
// OpenAPI. Here the page has the heading, there is one server, and the links to operations do
// not stand within buttons.
function ownParts({React: {createElement: element}}) {
    function Reference({getComponent, specSelectors}) {
        const part = (name) => element(getComponent(name, true), {key: name});
        const info = specSelectors.info();
        return element(
            'div',
            {className: 'swagger-ui'},
            part('SvgAssets'),
            element(
                'main',
                {id: 'operations', tabIndex: -1},
                element('h2', {}, `HTTP interface of version ${info.get('version')}`),
                element('p', {}, info.get('description')),
                element(
                    'div',
                    {className: 'reference-bar'},
                    part('FilterContainer'),
                    part('AuthorizeBtnContainer'),
                ),
                part('errors'),
                part('operations'),
                part('Models'),
            ),
        );
    }
    return {components: {Reference, DeepLink: ({text}) => element('span', {}, text)}};
}

// Names for choices, and a place in the order of Tab for what scrolls, which Swagger UI leaves
// out.
function nameControls(root) {
    for (const select of root.querySelectorAll('[data-param-name] select:not([aria-label])'))
        select.setAttribute(
            'aria-label',
            select.closest('[data-param-name]').dataset.paramName,
        );
    for (const code of root.querySelectorAll(
        '.microlight:not([tabindex]), .curl:not([tabindex])',
    ))
        code.tabIndex = 0;
}

async function begin() {
    const spec = forReading(await getDocument('/openapi.json'));
    const root = byId('reference');
    new MutationObserver(() => nameControls(root)).observe(root, {
        childList: true,
        subtree: true,
    });
    SwaggerUI({
        spec,
        domNode: root,
        deepLinking: true,
        displayRequestDuration: true,
        filter: true,
        layout: 'Reference',
        plugins: [ownParts],
        syntaxHighlight: {theme: 'monokai'},
        tryItOutEnabled: true,
        validatorUrl: null, // asks nobody else
    });
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
