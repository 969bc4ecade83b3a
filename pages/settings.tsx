import { permissionText } from '../render/permission';
import { forPeople, untilWords } from '../render/times';
import type { View } from '../render/paint';
import type { Frame } from './frame';
import type { SettingsModel } from './models';
import { Layout, toDocument } from './parts/layout';
import { SignedText } from './parts/listing';
import { Facts, More, Section, Table } from './parts/section';
import { Command, Prose, TimeAgo } from './parts/text';

/** The reader: who they are, why they may, their session; for admins the settings in force. */
export function renderSettingsPage(given: SettingsModel, frame: Frame): string {
  const model = forPeople(given, frame.view);
  const { account, token, reads } = model;
  return toDocument(
    <Layout frame={frame} title="You" heading="You" command="conveyor whoami">
      {account === null ? (
        <Anonymous reads={reads} signsIn={frame.signsIn} />
      ) : (
        <AccountSection account={account} token={token} view={frame.view} />
      )}
      {account === null ? null : <SessionSection account={account} frame={frame} />}
      {account === null ? null : <RuleSections account={account} />}
      <SettingsSections model={model} />
    </Layout>,
  );
}

function Anonymous({ reads, signsIn }: { readonly reads: SettingsModel['reads']; readonly signsIn: boolean }) {
  return (
    <Section id="you" title="Nobody is signed in">
      <p class="empty">
        {reads === 'open' ? 'Anybody who reaches this server may read.' : 'Reading needs an identity.'} Commands need an
        identity. {signsIn ? <a href="/sign-in?to=%2Fsettings">Sign in</a> : null}
      </p>
      <p class="note">
        In a terminal: <Command text="conveyor login URL" />
      </p>
    </Section>
  );
}

type KnownReader = NonNullable<SettingsModel['account']>;

interface AccountProps {
  readonly account: KnownReader;
  readonly token: SettingsModel['token'];
  readonly view: View;
}

function AccountSection({ account: { principal, groups }, token, view }: AccountProps) {
  const named = groups.map(({ name, from }) => `${name} (${from.map((one) => SOURCES[one]).join(' and ')})`);
  const until = token?.expiresAt ?? null;
  return (
    <section id="you" aria-label="You">
      <Facts
        fields={[
          ['Name', principal],
          ['Groups', named.join(', ') || 'none'],
          token === null ? null : ['Known by', DOOR_WORDS[token.door] ?? token.door],
          token === null
            ? null
            : ['Valid', until === null ? 'until the token is removed from the configuration' : untilWords(until, view)],
        ]}
      />
    </section>
  );
}

const SOURCES = { settings: 'by the settings', provider: 'by the identity provider' } as const;

const DOOR_WORDS: Readonly<Record<string, string>> = {
  oidc: 'the identity provider',
  token: 'a token of the configuration',
  development: 'the development login',
};

/** The session of this browser, and the ways out. */
function SessionSection({
  account: { session, principal },
  frame,
}: {
  readonly account: KnownReader;
  readonly frame: Frame;
}) {
  if (session === undefined)
    return (
      <Section id="session" title="Session">
        <p class="empty">A token reads this page, so there is no session.</p>
      </Section>
    );
  return (
    <Section id="session" title="Session">
      <p>
        By {session.by}, signed in <TimeAgo iso={session.signedInAt} view={frame.view} />, confirmed{' '}
        <TimeAgo iso={session.confirmedAt} view={frame.view} />; valid {untilWords(session.until, frame.view)} unless it
        is renewed by use.
      </p>
      <p class="note">
        The server keeps no list of sessions. Signing out everywhere ends all sessions of <bdi>{principal}</bdi>, at
        every server, within seconds.
      </p>
      {frame.csrf === null ? null : (
        <form method="post" action="/sign-out/everywhere">
          <input type="hidden" name="csrf" value={frame.csrf} />
          <button type="submit">Sign out everywhere</button>
        </form>
      )}
    </Section>
  );
}

const MOST_RULES = 100;
const MOST_SHOWN_NAMES = 12;

/** Every rule of the platform, with those that apply first. */
function RuleSections({ account: { rules, decisions, principal } }: { readonly account: KnownReader }) {
  return (
    <>
      <Section id="rights" title="On the platform">
        <Table
          caption="Rights on the platform as a whole"
          headings={['What', 'Answer']}
          rows={decisions.map(({ operation, decision }) => [operation, <SignedText text={permissionText(decision)} />])}
        />
        <p class="note">
          Rights about a pipeline depend on its owners: <Command text={`conveyor can ${principal} release NAME`} />
        </p>
      </Section>
      <Section id="rules" title="Rules" note="Those that apply to you come first.">
        <Table
          caption="Rules of the platform"
          headings={['Rule', 'Applies', 'Permits to', 'Names']}
          rows={rules
            .slice(0, MOST_RULES)
            .map(({ place, gives, names, applies, through }) => [
              <bdi>{place}</bdi>,
              <SignedText text={applies ? `✔ yes${through === null ? '' : `, through ${through}`}` : '· no'} />,
              <Prose text={gives} />,
              <bdi>{shortNames(names)}</bdi>,
            ])}
          empty="conveyor.config.yaml has no platform section, so only owners of pipelines decide."
        />
        <More count={rules.length - MOST_RULES} noun="rules" />
      </Section>
    </>
  );
}

const shortNames = (names: readonly string[]): string =>
  names.length <= MOST_SHOWN_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_SHOWN_NAMES).join(', ')} and ${names.length - MOST_SHOWN_NAMES} more`;

const MOST_SETTINGS = 60;

function SettingsSections({ model: { settings, why } }: { readonly model: SettingsModel }) {
  if (settings === null)
    return (
      <Section id="settings" title="Settings in force">
        <p class="empty">
          <Prose text={why ?? ''} />
        </p>
      </Section>
    );
  return (
    <Section id="settings" title="Settings in force" note="Secrets are never shown, and addresses without their paths.">
      {settings.map(({ name, rows }) => (
        <>
          <h3>
            <bdi>{name}</bdi>
          </h3>
          <Table
            caption={name}
            headings={['Setting', 'Value']}
            rows={rows.slice(0, MOST_SETTINGS).map(([key, value]) => [<bdi>{key}</bdi>, <Prose text={value} />])}
          />
          <More count={rows.length - MOST_SETTINGS} noun="settings" />
        </>
      ))}
    </Section>
  );
}
