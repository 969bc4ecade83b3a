import type { Child } from 'hono/jsx';
import type { Fields } from '../../render/deploy';
import { Command, Prose } from './text';

/** A part of a page that can be replaced by its id. */
export function Section(props: {
  readonly id: string;
  readonly title: string;
  readonly note?: Child;
  readonly children: Child;
}) {
  const { id, title, note, children } = props;
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note === undefined ? null : <p class="note">{note}</p>}
      {children}
    </section>
  );
}

/** Names with sentences. @param above texts that the heading already has, which are not repeated */
export function Facts({ fields, above = [] }: { readonly fields: Fields; readonly above?: readonly string[] }) {
  const shown = fields.flatMap((field) => {
    if (field === null) return [];
    const [name, value] = field;
    const words = value.replace(SIGN, '');
    if (above.includes(words)) return [];
    const head = above.find((text) => words.startsWith(`${text}  `));
    return [[name, head === undefined ? value : words.slice(head.length).trimStart()] as const];
  });
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div class={`fact fact-${name.toLowerCase().replace(/\W+/g, '-')}`}>
          <dt>{name}</dt>
          <dd>
            <Prose text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The sign before a state. */
const SIGN = /^[^\w\s] /;

/** Commands of the command line, one a line. */
export function Commands({
  id,
  title,
  commands,
}: {
  readonly id: string;
  readonly title: string;
  readonly commands: readonly string[];
}) {
  if (commands.length === 0) return null;
  return (
    <Section id={id} title={title}>
      <ul class="commands">
        {commands.map((command) => (
          <li>
            <Command text={command} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** A list that a page shows only in part; the whole is in its JSON. */
export function More({ count, noun }: { readonly count: number; readonly noun: string }) {
  return count <= 0 ? null : (
    <p class="note">
      {count} more {noun}; the JSON of this page has all of them
    </p>
  );
}

interface TableProps {
  readonly caption: string;
  readonly headings: readonly string[];
  /** A row of cells; the first one names the row. */
  readonly rows: readonly (readonly Child[])[];
  readonly empty?: Child;
  /** The ids of the rows, to which links may lead. */
  readonly ids?: readonly (string | undefined)[];
}

/** A table that scrolls by itself where the screen is narrow. */
export function Table({ caption, headings, rows, empty, ids = [] }: TableProps) {
  if (rows.length === 0) return empty === undefined ? null : <p class="empty">{empty}</p>;
  return (
    <div class="scroll" role="group" aria-label={caption} tabindex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th scope="col">{heading}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...cells], at) => (
            <tr id={ids[at]}>
              <th scope="row">{first}</th>
              {cells.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The body of a page, and beside it on a wide screen what accompanies it. */
export function TwoColumns({ body, side }: { readonly body: Child; readonly side: Child }) {
  return (
    <div class="columns">
      <div>{body}</div>
      <div>{side}</div>
    </div>
  );
}
