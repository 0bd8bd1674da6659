"""The command line: `train`, `average`, `compare`, `translate`, `attention` and `align`.

    main.py           the parser, and one line for each error      setting_flags.py   a flag for each setting
    training.py       `train`                                      trained_model.py   what `train` has saved
    averaging.py      `average`                                    device.py          the device to compute on
    comparing.py      `compare`
    translating.py    `translate`
    drawing.py        `attention`
    aligning.py       `align`

A user's error is answered in one line, with exit status 2.
"""
