import { describeGate, type GateRuleTexts } from '../render/gates';
import { forPeople } from '../render/times';
import { NoRepository } from './config';
import type { Frame } from './frame';
import type { GateModel, GatesModel } from './models';
import { toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Notes } from './parts/listing';
import { Section, Table } from './parts/section';
import { Command, Prose } from './parts/text';
import { OriginSections, ValueText } from './value';

/** The gates of all repositories. */
export function renderGatesPage(given: GatesModel & { readonly hasRepository: boolean }, frame: Frame): string {
  const { gates, unread, hasRepository } = forPeople(given, frame.view);
  return toDocument(
    <Layout frame={frame} title="Gates" heading="Gates" command="conveyor config show gates/NAME">
      <Section id="gates" title={`${gates.length.toLocaleString('en')} in repositories of configuration`}>
        <Notes lines={unread.map(({ repository, problem }) => `⚠ ${repository}: ${problem}`)} />
        <Table
          caption="Gates"
          headings={['Gate', 'Repository', 'Source']}
          rows={gates.map(({ repository, name, source }) => [
            <a href={`/gates/${repository}/${name}`} class="id">
              <bdi>{name}</bdi>
            </a>,
            <bdi>{repository}</bdi>,
            <a href={toPageLink(`/config/${repository}/value`, { path: source })}>
              <bdi>{source}</bdi>
            </a>,
          ])}
          empty={
            hasRepository ? (
              <>
                No gate yet: a gate is a value below <code>gates/</code>.{' '}
                <Command text="conveyor config propose FOLDER -m MESSAGE" />
              </>
            ) : (
              <NoRepository />
            )
          }
        />
      </Section>
    </Layout>,
  );
}

/** A gate: its rules with the share that each passes, and the hosts that follow it. */
export function renderGatePage(given: GateModel, frame: Frame): string {
  const { value, ...rest } = given;
  const { repository, name, origins, originsProblem } = forPeople(rest, frame.view);
  const gate = value === null ? null : forPeople(describeGate(value.value), frame.view);
  return toDocument(
    <Layout
      frame={frame}
      title={name}
      heading={<bdi>{name}</bdi>}
      above={<a href="/gates">Gates</a>}
      command={`conveyor config show gates/${name} --repository ${repository}`}
    >
      <Section
        id="rules"
        title="Rules"
        note="The first rule that applies to a user decides. A user to whom none applies does not pass."
      >
        {gate === null ? <p class="empty">The branch has no such value, so no user passes.</p> : null}
        <Notes lines={(gate?.problems ?? []).map((problem) => `✖ hosts refuse this value: ${problem}`)} />
        <Table
          caption={`Rules of ${name}`}
          headings={['Rule', 'Applies to', 'Passes of these users']}
          rows={(gate?.rules ?? []).map((rule) => [
            <bdi>{rule.name}</bdi>,
            <Prose text={rule.who} />,
            <>
              {rule.share} <PassBar rule={rule} />
            </>,
          ])}
        />
      </Section>
      {value === null ? null : (
        <Section
          id="value"
          title="Value"
          note={`As of commit ${forPeople(value.commit, frame.view)?.slice(0, 12) ?? 'none'} of the branch.`}
        >
          <ValueText text={value.value} />
        </Section>
      )}
      <OriginSections repository={repository} origins={origins} problem={originsProblem} view={frame.view} />
    </Layout>,
  );
}

function PassBar({ rule: { name, pass, share } }: { readonly rule: GateRuleTexts }) {
  return (
    <svg
      class="bar tasks"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}: ${share} pass`}
    >
      <rect class="part-rest" width="100" height="10" />
      <rect class="part-live" width={Math.round(pass * 1000) / 10} height="10" />
    </svg>
  );
}
