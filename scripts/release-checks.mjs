// What a release needs to be true of the version, the changelog and the tags, and how it is published. Nothing here
// reads a file or runs a program.

/** What a changelog says below the heading of a version or of "Unreleased"; null without such a heading. */
export function changelogSection(changelog, name) {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => headingOf(text).name === name)
  // The definitions of links stand below the last section and belong to none.
  return (
    section
      ?.slice(section.indexOf('\n'))
      .replace(/^\[[^\]]+\]: .*$/gm, '')
      .trim() ?? null
  )
}

function headingOf(section) {
  const [, name, date] = /^\[?([^\]\n]+?)\]?(?: - (\S+))? *\n/.exec(section) ?? []
  return { name, date }
}

/** What the changelog lacks for this version to be released. */
export function changelogProblems(changelog, version) {
  const headings = changelog.split(/^## /m).slice(1).map(headingOf)
  const newest = headings.find(({ name }) => name !== 'Unreleased')
  const problems = []
  if (headings[0]?.name !== 'Unreleased') problems.push('CHANGELOG.md does not begin with "## Unreleased".')
  if (changelogSection(changelog, 'Unreleased')) {
    problems.push(`CHANGELOG.md has entries under "Unreleased": move them below ${version}.`)
  }
  if (newest?.name !== version) {
    problems.push(
      `The newest version in CHANGELOG.md is ${newest?.name ?? 'missing'}; package.json has ${version}.`,
    )
  } else if (!/^\d{4}-\d\d-\d\d$/.test(newest.date ?? '')) {
    problems.push(`CHANGELOG.md gives ${version} no date: "## [${version}] - YYYY-MM-DD".`)
  } else if (!changelogSection(changelog, version)) {
    problems.push(`CHANGELOG.md says nothing about ${version}.`)
  }
  if (!changelog.includes(`\n[${version}]: `)) problems.push(`CHANGELOG.md has no link for [${version}].`)
  return problems
}

/**
 * What is wrong with the version and its tag. `headTags` are the tags of the commit that is released, `allTags` those
 * of the repository. A dry run comes before the tag; what is published has it.
 */
export function versionProblems({ version, lockVersion, headTags, allTags, isDryRun }) {
  const tag = tagOf(version)
  const problems = []
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) problems.push(`${version} is not a version.`)
  if (lockVersion !== version) {
    problems.push(`package-lock.json has ${lockVersion}, package.json ${version}: run npm install.`)
  }
  if (!headTags.includes(tag)) {
    if (allTags.includes(tag)) problems.push(`${tag} is the tag of another commit: choose the next version.`)
    else if (!isDryRun) problems.push(`This commit does not have the tag ${tag}.`)
  }
  return problems
}

export const tagOf = (version) => `v${version}`

/**
 * The arguments of npm that publish a tarball with a statement of where it was built. A pre-release is not what
 * `npm install quartz-ts` gives.
 */
export function publishArguments(tarball, version) {
  const channel = version.includes('-') ? 'next' : 'latest'
  return ['publish', tarball, '--access', 'public', '--provenance', '--tag', channel]
}
