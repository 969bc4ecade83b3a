import { PAGE_LIMITS } from '../domain/limits';
import { escapeUnsafe } from '../domain/plainText';
import { cutText } from '../domain/size';
import { renderHost, renderSubscribers } from '../render/subscribers';
import { forPeople } from '../render/times';
import type { View } from '../render/paint';
import type { Frame } from './frame';
import type { ConfigValueModel } from './models';
import { FilterForm, FilterText, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Notes } from './parts/listing';
import { Section } from './parts/section';

/** A value of a configuration: its text, its origins, and the hosts that have it. */
export function renderConfigValuePage(given: ConfigValueModel, frame: Frame): string {
  const { value, host, ...rest } = given;
  const { repository, path, change, origins, originsProblem } = forPeople(rest, frame.view);
  const inChange = change === null ? '' : ` --change ${change}`;
  return toDocument(
    <Layout
      frame={frame}
      title={path}
      heading={<bdi>{path}</bdi>}
      above={
        <>
          <a href="/config">Configuration</a>{' '}
          <a href={`/config/${repository}`}>
            <bdi>{repository}</bdi>
          </a>
        </>
      }
      command={`conveyor config ${value === null ? 'why' : 'show'} ${path}${inChange} --repository ${repository}`}
    >
      {value === null ? null : (
        <Section
          id="value"
          title={change === null ? 'On the branch' : `In change ${change}`}
          note={commitWords(forPeople(value.commit, frame.view))}
        >
          <ValueText text={value.value} />
        </Section>
      )}
      <OriginSections repository={repository} origins={origins} problem={originsProblem} view={frame.view} />
      {value === null ? null : (
        <Section id="host" title="On a host">
          <FilterForm action={`/config/${repository}/value`} label="Ask about a host" button="Show">
            <input type="hidden" name="path" value={path} />
            <FilterText name="host" label="Host" value={forPeople(host?.host ?? '', frame.view)} example="web-3" />
          </FilterForm>
          {host === null ? null : <OnHost host={host} view={frame.view} />}
        </Section>
      )}
    </Layout>,
  );
}

const commitWords = (commit: string | null): string => `As of commit ${commit?.slice(0, 12) ?? 'none'}.`;

const VALUE_LINES = '\n\t';

/** A text with its lines, and no character that hides or moves others. */
export function ValueText({ text }: { readonly text: string }) {
  const shown = cutText(text, PAGE_LIMITS.value.max);
  return (
    <>
      <pre class="value" tabindex={0}>
        <bdi>{escapeUnsafe(shown, VALUE_LINES)}</bdi>
      </pre>
      {shown.length < text.length ? <p class="note">The beginning; the JSON of this page has all of it.</p> : null}
    </>
  );
}

interface OriginsProps {
  readonly repository: string;
  readonly origins: ConfigValueModel['origins'];
  readonly problem: string | null;
  readonly view: View;
}

/** The files of a value or the values of a file, and who has which. */
export function OriginSections({ repository, origins, problem, view }: OriginsProps) {
  if (origins === null)
    return (
      <Section id="origins" title="Origins and hosts">
        <Notes lines={[`⚠ ${problem ?? ''}`]} />
      </Section>
    );
  const { files, contributesTo, subscribers } = origins;
  return (
    <>
      <Section id="origins" title="Origins">
        <Paths title="It is made by" repository={repository} paths={files} />
        <Paths title="It contributes to" repository={repository} paths={contributesTo} />
      </Section>
      <Section id="hosts" title="Hosts">
        <Notes lines={renderSubscribers(subscribers, view).map((line) => line.trim())} />
      </Section>
    </>
  );
}

interface PathsProps {
  readonly title: string;
  readonly repository: string;
  readonly paths: readonly string[];
}

function Paths({ title, repository, paths }: PathsProps) {
  const shown = paths.slice(0, PAGE_LIMITS.sources.max);
  return paths.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul>
        {shown.map((path) => (
          <li>
            <a href={toPageLink(`/config/${repository}/value`, { path })}>
              <bdi>{path}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {paths.length > shown.length ? <p class="note">{paths.length - shown.length} more</p> : null}
    </>
  );
}

function OnHost({ host, view }: { readonly host: NonNullable<ConfigValueModel['host']>; readonly view: View }) {
  const { value, branch, ...facts } = host;
  const shown = value ?? branch?.value ?? null;
  const said = renderHost({ ...forPeople(facts, view), value: '', branch: branch && { ...branch, value: '' } }, view);
  return (
    <>
      <Notes lines={said.filter((line) => line !== '')} />
      {shown === null ? null : <ValueText text={shown} />}
    </>
  );
}
