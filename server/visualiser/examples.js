// A menu of examples: addresses of the page with a title. To add one, add a line.
import {h} from './dom.js';

export const EXAMPLES = [
  {title: 'Base 10 beside base 10000: distance against correlation',
    address: '?scheme=sinusoidal&length=128&dim=128&base=10&right.scheme=sinusoidal&right.length=128&right.dim=128&right.base=10000&view=cloud'},
  {title: 'How far positions are from three of them, base 10 beside base 10000',
    address: '?scheme=sinusoidal&length=128&dim=128&base=10&right.scheme=sinusoidal&right.length=128&right.dim=128&right.base=10000&view=distances'},
  {title: 'The heads of ALiBi',
    address: '?scheme=alibi&length=64&heads=8&view=heads'},
  {title: 'RoPE as it is beside yarn, four times longer',
    address: '?scheme=rope&length=512&dim=64&right.scheme=rope&right.length=512&right.dim=64&right.rope_type=yarn&right.factor=4&right.original_max_position_embeddings=128&view=spectrum&view.mark=128'},
  {title: 'Float32 at position 131071',
    address: '?scheme=sinusoidal&length=64&offset=131008&dim=64&view=precision'},
  {title: 'Hierarchical positions beyond the training length',
    address: '?scheme=hierarchical&length=192&base_length=64&dim=64&view=similarity&view.similarity.metric=cosine&view.mark=64'},
];

// Fill a <details> with links; `visit(address)` opens an address without reloading the page.
export function showExamples(details, visit) {
  const close = () => { details.open = false; };
  const go = (event, address) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // into another tab
    event.preventDefault();
    close();
    details.querySelector('summary').focus();
    visit(address);
  };
  details.append(h('ul', {}, ...EXAMPLES.map(({title, address}) => h('li', {}, h('a', {href: address, onclick: (event) => go(event, address)}, title)))));
  document.addEventListener('pointerdown', ({target}) => { if (!details.contains(target)) close(); });
  details.addEventListener('focusout', ({relatedTarget}) => { if (relatedTarget && !details.contains(relatedTarget)) close(); });
  details.addEventListener('keydown', ({key}) => {
    if (key !== 'Escape' || !details.open) return;
    close();
    details.querySelector('summary').focus();
  });
}
