import type { Child } from 'hono/jsx';

/** A form whose fields become the query of the same page. */
export function FilterForm(props: {
  readonly action: string;
  readonly label: string;
  readonly button?: string;
  readonly children: Child;
}) {
  const { action, label, button = 'Filter', children } = props;
  return (
    <form class="filters" action={action} method="get" role="search" aria-label={label}>
      {children}
      <button type="submit">{button}</button>
    </form>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly example?: string;
}

export function FilterText({ name, label, value, example }: FilterProps) {
  return (
    <label>
      {label}
      <input type="text" name={name} value={value} placeholder={example} autocomplete="off" dir="auto" />
    </label>
  );
}

export function FilterChoice({
  name,
  label,
  value,
  choices,
}: Omit<FilterProps, 'example'> & { readonly choices: readonly (readonly [value: string, word: string])[] }) {
  return (
    <label>
      {label}
      <select name={name}>
        {choices.map(([choice, word]) => (
          <option value={choice} selected={choice === value}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

type LinkQuery = Readonly<Record<string, string | number | null | undefined>>;

/** The path of a page with those fields of its query that are not empty. */
export function toPageLink(path: string, query: LinkQuery): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The ways to the first and the next page of a list. */
export function Paging({ first, next }: { readonly first: string | null; readonly next: string | null }) {
  return (
    <nav class="paging" aria-label="Paging">
      {first === null ? null : <a href={first}>First page</a>}
      {next === null ? null : (
        <a href={next} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}
