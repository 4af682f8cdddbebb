"""What secrets look like: the prefixes of Toryo's own tokens, with which the server creates them, and patterns of these
and other tokens, with which the server's log and Coordinators mask.
"""

COORDINATOR, PERSON, LAUNCH, SESSION, QUEUE = "tct_", "tpt_", "tlc_", "tst_", "tqk_"
BROWSER, PAGE = "tbs_", "tps_"
"""What a browser is signed in by: in a cookie that no script can read, and in the storage of the page's origin. Only
both together are worth anything, and neither is as a bearer."""
PASSKEY = "pk_"
WEBHOOK = "whsec_"
"""With which programs sign what they send to a webhook."""

PREFIXES = (COORDINATOR, PERSON, LAUNCH, SESSION, QUEUE, BROWSER, PAGE, PASSKEY, WEBHOOK)

_OWN = "|".join(each.removesuffix("_") for each in PREFIXES)
LOOKS = (
    rf"(?<![A-Za-z0-9])(?:{_OWN})_[\w-]{{16,}}"
    r"|\b(?:sk|rk|pk)-[\w-]{20,}"
    r"|\b[sr]k_(?:live|test)_\w{16,}"
    r"|\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bgl[a-z]{2,6}-[\w-]{16,}"
    r"|\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{10,}"
    r"|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"
    r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}|\bhf_[A-Za-z0-9]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=[Bb]earer )[\w.~+/=-]{16,}|(?<=uthorization: [Bb]asic )[\w+/=]{8,}"
)
"""A regular expression, linear in the text: it is looked for in every output."""
MAY_BE = r"[\w.-]{15}|earer |asic "
"""What every text has in which `LOOKS` finds something; found in a tenth of the time in a text that has none."""
